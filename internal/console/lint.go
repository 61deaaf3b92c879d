package console

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"tocsin/internal/auth"
	"tocsin/internal/core/lint"
	findings "tocsin/internal/engine/lint"
)

var lintPages = []page{{path: "/lint", template: "lint", tab: "configuration", show: showLint}}

// finding is one problem of the configuration.
type finding struct{ lint.Finding }

// Path returns the page where the problem is cured; empty: no page of the console cures it.
func (f finding) Path() string {
	id := url.PathEscape(f.Object.ID)
	switch f.Object.Kind {
	case "channel":
		return "/channels/" + id
	case "integration":
		return "/integrations/" + id
	case "schedule":
		return "/schedules/" + id
	case "person":
		return "/people/" + id
	case "team":
		return "/teams/" + id
	case "alert_rule":
		return "/rules/" + id
	}
	kinds := map[string]string{
		"escalate_rule": "escalations", "drop_rule": "rules/drops", "silence_rule": "rules/silences", "inhibit_rule": "rules/inhibits",
	}
	if kind := kinds[f.Object.Kind]; kind != "" && f.Channel != 0 {
		return fmt.Sprintf("/channels/%d/%s/%s", f.Channel, kind, id)
	}
	return ""
}

type lintView struct {
	titled
	pager
	Severity   string // empty: all
	Severities []tabLink
	Findings   []finding
}

func showLint(v *visit) (view, error) {
	d := lintView{titled: titled(v.T("What is wrong with the configuration")), pager: v.pager(), Severity: v.query("severity")}
	severities := []string{"", "error", "warning", "info"}
	if !slices.Contains(severities, d.Severity) {
		d.Severity = ""
	}
	reply, err := call[findings.Listed](v, "/lint/list", findings.ListRequest{Severity: d.Severity})
	from := min(int64(len(reply.Items)), (d.Page-1)*perPage)
	to := min(int64(len(reply.Items)), from+perPage)
	for _, f := range reply.Items[from:to] {
		d.Findings = append(d.Findings, finding{f})
	}
	d.Total = reply.Total
	d.More = to < int64(len(reply.Items))
	for _, severity := range severities {
		one := tabLink{pageLink{"/lint", v.T("All")}, severity == d.Severity}
		if severity != "" {
			one.pageLink = pageLink{"/lint?severity=" + severity, v.FindingSeverity(severity)}
		}
		d.Severities = append(d.Severities, one)
	}
	return d, err
}

// findingSeverities are the texts of the severities of findings.
var findingSeverities = map[string]string{
	"error": "Can reach no one", "warning": "Sometimes no one, or late", "info": "By choice, or unproven",
}

// FindingSeverity names a severity of findings by what it means.
func (v *visit) FindingSeverity(severity string) string {
	return v.T(cmp.Or(findingSeverities[severity], severity))
}

// findingKinds are the texts of the kinds of objects that findings name.
var findingKinds = map[string]string{
	"account": "Account", "channel": "Channel", "integration": "Integration", "schedule": "Schedule", "person": "Person", "team": "Team",
	"escalate_rule": "Escalation rule", "drop_rule": "Drop rule", "silence_rule": "Silence rule", "inhibit_rule": "Inhibit rule",
}

// FindingKind names a kind of objects.
func (v *visit) FindingKind(kind string) string { return v.T(cmp.Or(findingKinds[kind], kind)) }

// ReadsLint reports whether the visitor may read what is wrong with the configuration.
func (v *visit) ReadsLint() bool {
	return v.who.MayAny([]auth.Permission{auth.ChannelsRead, auth.ChannelsManage})
}
