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
	Problems   []problem
}

func showLint(v *page.Visit) (page.View, error) {
	d := lintView{Titled: page.Titled(v.T("Configuration check")), Pager: v.Pager(), Severity: v.Query("severity")}
	severities := []string{"", "error", "warning", "info"}
	if !slices.Contains(severities, d.Severity) {
		d.Severity = ""
	}
	reply, err := page.Call[findings.Listed](v, "/lint/list", findings.ListRequest{Severity: d.Severity})
	all := problems(reply.Items)
	from := min(int64(len(all)), (d.Page-1)*page.PageSize)
	to := min(int64(len(all)), from+page.PageSize)
	d.Problems = all[from:to]
	d.Total = int64(len(all))
	d.More = to < int64(len(all))
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
	"error": "Nobody told", "warning": "Sometimes nobody, or late", "info": "Worth a look",
}

// findingSeverity names a severity of findings by what it means.
func findingSeverity(v *page.Visit, severity string) string {
	return v.T(cmp.Or(findingSeverities[severity], severity))
}
