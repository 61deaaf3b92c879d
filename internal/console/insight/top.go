package insight

import (
	"net/url"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
)

// listed is the longest window of the lists of incidents and alerts.
const listed = 31 * 24 * time.Hour

// lately returns the part of the window that a list can show: its end.
func (q insightQuery) lately() (from, to time.Time) {
	to = q.from.AddDate(0, 0, q.days)
	from = q.from
	if to.Sub(from) > listed {
		from = to.Add(-listed)
	}
	return from, to
}

// incidents returns the address of the incidents of the window with a value of a label.
func (q insightQuery) incidents(value string) string {
	from, to := q.lately()
	return "/incidents?" + url.Values{
		"show": {"all"}, "q": {value}, "from": {from.Format(page.LocalTime)}, "to": {to.Add(-time.Minute).Format(page.LocalTime)},
	}.Encode()
}

// labelsOf lists the labels that count for alerts without the label that is asked for, as the operation has it.
var labelsOf = map[string][]string{"check": {"check", "alertname"}, "resource": {"resource", "host", "instance"}}

// latestAlerts returns the latest alert of each value of the label, among the latest alerts of the window.
func latestAlerts(v *page.Visit, q insightQuery) (map[string]string, error) {
	from, to := q.lately()
	request := alert.ListRequest{StartTime: from.Unix(), EndTime: to.Unix()}
	request.Limit = 100
	reply, err := page.Call[api.CursorPage[alert.Alert]](v, "/alert/list", request)
	latest := map[string]string{}
	for _, a := range reply.Items {
		for _, label := range append(labelsOf[q.label], q.label) {
			value := a.Labels[label]
			if value == "" {
				continue
			}
			if latest[value] == "" {
				latest[value] = a.AlertID
			}
			break
		}
	}
	return latest, err
}
