package console

import (
	"fmt"
	"html/template"
	"strings"

	"tocsin/internal/engine/monitor"
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
		querier.PhaseSignIn: v.T("Signing in there"), querier.PhaseQuery: v.T("A small query"), "rights": v.T("What the account may do there"),
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

// datasourceStates returns how datasources answer their rules, by id.
func (v *visit) datasourceStates() (map[uint64]monitor.DatasourceState, error) {
	all, err := itemsOf[monitor.DatasourceState](v, "/monit/datasource/state")
	states := map[uint64]monitor.DatasourceState{}
	for _, s := range all {
		states[s.DSID] = s
	}
	return states, err
}

// datasourceWords returns in words how a datasource answers its rules.
func (v *visit) datasourceWords(s monitor.DatasourceState) string {
	if s.State == monitor.SourceUnused {
		return v.T("No rule that is enabled asks it.")
	}
	words := v.T("Rules on it: %d.", s.Rules)
	if s.State == monitor.SourceLost {
		words += " " + v.T("It has not answered since %s: %s", v.When(s.Since/1000), s.Reason)
	}
	if s.LastAt > 0 {
		words += " " + v.T("Last answer %s, in %d ms.", v.When(s.LastAt/1000), s.TookMS)
	}
	return words
}

// AtMS is At of a moment in milliseconds.
func (v *visit) AtMS(at int64) template.HTML { return v.At(at / 1000) }
