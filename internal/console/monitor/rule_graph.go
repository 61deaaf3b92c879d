package monitor

import (
	"bytes"
	"cmp"
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	"tocsin/internal/engine/monitor"
)

// showGraph answers with the picture of a rule's queries.
func showGraph(v *page.Visit) error {
	length := page.GraphSpans[0].Length
	for _, s := range page.GraphSpans {
		if s.Name == v.Query("span") {
			length = s.Length
		}
	}
	to := page.Number(v.Query("at"))
	d := picture.RuleGraph{Nonce: v.Nonce, Scheme: cmp.Or(v.Theme, "light dark")}
	span := monitor.Span{From: (to - length) * 1000, To: to * 1000}
	found, err := page.Call[monitor.Graph](v, "/monit/rule/graph",
		monitor.GraphRequest{ID: ruleID(v), DSID: page.Unsigned(v.Query("ds")), Span: span})
	switch refused := api.RefusalOf(err); {
	case refused == nil && err != nil:
		return err
	case refused == nil:
		d.RuleChart = picture.ChartOf(found, (to-length)*1000, to*1000, v.Query("key"))
		d.Ticks = picture.Ticks(v.Setting, to-length, to)
		if len(d.Lines) == 0 {
			d.Words = v.T("No data in this time.")
		}
	case refused.Status == http.StatusTooManyRequests:
		d.Words = v.T("Too many graphs were drawn. Look again in a minute.")
	case refused.Code == "AccessDenied":
		d.Words = v.T("You may not read datasources.")
	default:
		d.Words = v.T("The datasource shows no graph.")
	}
	var picture bytes.Buffer
	if err := d.Draw(&picture); err != nil {
		return err
	}
	v.Writer.Header().Set("Content-Type", "image/svg+xml")
	if d.Words == "" {
		v.Writer.Header().Set("Cache-Control", "private, max-age=1800") // its address has its end
	}
	return v.Frame.Send(v.Writer, v.Request, v.Who, http.StatusOK, picture.Bytes())
}
