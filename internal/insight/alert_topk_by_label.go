package insight

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/insight"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// TopRequest asks for the values of a label that most alerts have.
type TopRequest struct {
	Request
	Label   string `json:"label" minLength:"1" maxLength:"255" doc:"The label, such as check or resource. Alerts without it count by alertname for check, and by host or instance for resource; others do not count."`
	K       int64  `json:"k,omitzero" minimum:"1" maximum:"100" doc:"How many values; absent: 10."`
	OrderBy string `json:"orderby,omitzero" enum:"total_alert_cnt,total_alert_event_cnt" doc:"What decides; absent: total_alert_cnt."`
	Asc     bool   `json:"asc,omitzero" doc:"The fewest first."`
}

// Check holds the request against its bounds. Filters that are about incidents are refused: an alert has no responders,
// no times and no custom fields, and a filter without effect would answer with everything.
func (in TopRequest) Check() error {
	if err := in.Request.Check(); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"responder_ids", len(in.ResponderIDs) > 0}, {"fields", len(in.Fields) > 0},
		{"seconds_to_close_from", in.SecondsToCloseFrom != nil}, {"seconds_to_close_to", in.SecondsToCloseTo != nil},
		{"seconds_to_ack_from", in.SecondsToAckFrom != nil}, {"seconds_to_ack_to", in.SecondsToAckTo != nil},
		{"aggregate_unit", in.AggregateUnit != ""},
	} {
		if f.set {
			return fault.Invalid(f.name, "is not supported here, because the figures are of alerts")
		}
	}
	return nil
}

// Top is a value of the label.
type Top struct {
	Label              string `json:"label" doc:"The value."`
	Hours              string `json:"hours,omitzero" enum:"work,sleep,off" doc:"With split_hours: the hours in which the alerts began."`
	TotalAlertCnt      int64  `json:"total_alert_cnt" doc:"Alerts that began in the window."`
	TotalAlertEventCnt int64  `json:"total_alert_event_cnt" doc:"Events of these alerts."`
}

// instead are the labels that count for alerts without the label that is asked for, the first that there is.
var instead = map[string][]string{"check": {"alertname"}, "resource": {"host", "instance"}}

// topByLabel answers /insight/alert/topk-by-label.
func topByLabel(c *api.Call, in TopRequest) (reply api.Items[Top], err error) {
	reply.Items = []Top{}
	zone, err := in.zone(c.Who.Zone)
	if err != nil {
		return reply, err
	}
	w := alert.Window{From: in.StartTime, Until: in.EndTime, Severities: in.Severities, Incidents: lower(in.IncidentIDs)}
	w.Hidden, err = channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	selected, none, err := channels(c.Tx, c.Who, in.ChannelIDs, in.TeamIDs, in.IsMyTeam)
	if err != nil || none {
		return reply, err
	}
	w.Channels = selected
	counts := map[[2]string]*Top{} // by value and hours
	text := db.Fold(in.Query)
	err = eachAlert(c, w, func(a *alert.Summary) {
		value, has := labelOf(a, in.Label)
		if !has || a.Labels[event.Drill] != "" || !hasLabels(a, in.Labels) {
			return
		}
		if text != "" && !strings.Contains(db.Fold(a.Title+"\n"+render.AlertName(a.Title, a.Labels)), text) {
			return
		}
		k := [2]string{value, ""}
		if in.SplitHours {
			k[1] = insight.HoursOf(a.Start, zone)
		}
		if counts[k] == nil {
			counts[k] = &Top{Label: value, Hours: k[1]}
		}
		counts[k].TotalAlertCnt++
		counts[k].TotalAlertEventCnt += a.Events
	})
	if err != nil {
		return reply, err
	}
	all := slices.SortedFunc(maps.Values(counts), func(a, b *Top) int {
		order := cmp.Compare(b.TotalAlertCnt, a.TotalAlertCnt)
		if in.OrderBy == "total_alert_event_cnt" {
			order = cmp.Compare(b.TotalAlertEventCnt, a.TotalAlertEventCnt)
		}
		if in.Asc {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.Label, b.Label), cmp.Compare(a.Hours, b.Hours))
	})
	for _, one := range all[:min(len(all), int(cmp.Or(in.K, 10)))] {
		reply.Items = append(reply.Items, *one)
	}
	return reply, nil
}

// eachAlert calls fn for each alert of a window. It returns fault.Invalid when there are more than one call may read.
func eachAlert(c *api.Call, w alert.Window, fn func(*alert.Summary)) error {
	at, id := w.From-1, ""
	for read := 0; ; {
		if err := c.Ctx.Err(); err != nil {
			return err
		}
		found, err := w.After(c.Tx, c.Who.AccountID, at, id, page)
		if err != nil {
			return err
		}
		if read += len(found); read > maxRows {
			return tooMany("alerts")
		}
		for n := range found {
			fn(&found[n])
			at, id = found[n].Start, found[n].ID
		}
		if len(found) < page {
			return nil
		}
	}
}

// labelOf returns the value of a label, or of one that counts instead.
func labelOf(a *alert.Summary, name string) (string, bool) {
	for _, one := range append([]string{name}, instead[name]...) {
		if value := a.Labels[one]; value != "" {
			return value, true
		}
	}
	return "", false
}

func hasLabels(a *alert.Summary, wanted map[string]string) bool {
	for name, value := range wanted {
		if got, has := a.Labels[name]; !has || got != value {
			return false
		}
	}
	return true
}

func lower(list []string) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = strings.ToLower(s)
	}
	return all
}
