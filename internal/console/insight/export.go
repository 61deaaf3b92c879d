package insight

import (
	"tocsin/internal/console/page"
)

// exportInsight answers with the table of the figures as a file; for the whole account, with its incidents.
func exportInsight(v *page.Visit) error {
	q, err := readInsightQuery(v)
	if err != nil {
		return err
	}
	path := "/insight/" + q.by + "/export"
	if q.by == "account" {
		path = "/insight/incident/export"
	}
	return v.Frame.AskFile(v.Context, v.Writer, v.Inside(), path, q.window(0))
}
