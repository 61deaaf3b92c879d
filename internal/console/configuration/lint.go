package configuration

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"tocsin/internal/console/page"
	"tocsin/internal/core/lint"
	findings "tocsin/internal/engine/lint"
)

var lintPages = []page.Page{{Path: "/lint", Template: "lint", Tab: "account", Show: showLint}}

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
	page.Titled
	page.Pager
	Severity   string // empty: all
	Severities []page.TabLink
	Findings   []finding
}

func showLint(v *page.Visit) (page.View, error) {
	d := lintView{Titled: page.Titled(v.T("What is wrong with the configuration")), Pager: v.Pager(), Severity: v.Query("severity")}
	severities := []string{"", "error", "warning", "info"}
	if !slices.Contains(severities, d.Severity) {
		d.Severity = ""
	}
	reply, err := page.Call[findings.Listed](v, "/lint/list", findings.ListRequest{Severity: d.Severity})
	from := min(int64(len(reply.Items)), (d.Page-1)*page.PageSize)
	to := min(int64(len(reply.Items)), from+page.PageSize)
	for _, f := range reply.Items[from:to] {
		d.Findings = append(d.Findings, finding{f})
	}
	d.Total = reply.Total
	d.More = to < int64(len(reply.Items))
	for _, severity := range severities {
		one := page.TabLink{Link: page.Link{Path: "/lint", Text: v.T("All")}, Here: severity == d.Severity}
		if severity != "" {
			one.Link = page.Link{Path: "/lint?severity=" + severity, Text: findingSeverity(v, severity)}
		}
		d.Severities = append(d.Severities, one)
	}
	return d, err
}

// findingSeverities are the texts of the severities of findings.
var findingSeverities = map[string]string{
	"error": "Can reach no one", "warning": "Sometimes no one, or late", "info": "By choice, or unproven",
}

// findingSeverity names a severity of findings by what it means.
func findingSeverity(v *page.Visit, severity string) string {
	return v.T(cmp.Or(findingSeverities[severity], severity))
}
