package console

import (
	"fmt"
	"strings"

	"tocsin/internal/querier"
)

// testDatasource tests the connection of a stored datasource and shows its phases.
func testDatasource(v *visit) (*displayed, error) {
	var reply struct {
		Phases []querier.Phase `json:"phases"`
	}
	if err := v.call("/monit/datasource/test", map[string]any{"id": v.number()}, &reply); err != nil {
		return nil, err
	}
	names := map[string]string{
		querier.PhaseResolve: v.T("Name of the host"), querier.PhaseDial: v.T("Connection to the host"), querier.PhaseTLS: "TLS",
		querier.PhaseSignIn: v.T("Signing in there"), querier.PhaseQuery: v.T("A small query"),
	}
	d := &displayed{Title: v.T("Connection, as it is saved")}
	var lines []string
	for _, p := range reply.Phases {
		if !p.OK {
			d.Failure = names[p.Name] + ": " + p.Message
			break
		}
		lines = append(lines, fmt.Sprintf("✓ %s, %d ms", names[p.Name], p.TookMS))
	}
	d.Text = strings.Join(lines, "\n")
	return d, nil
}
