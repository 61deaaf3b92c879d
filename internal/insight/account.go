package insight

import (
	"tocsin/internal/api"
	"tocsin/internal/core/insight"
	"tocsin/internal/incident"
)

// Account is the reply of /insight/account.
type Account struct {
	Items []Dimension `json:"items" doc:"A row for each part of the window."`
	Total Dimension   `json:"total" doc:"The figures of the whole window."`
}

// account answers /insight/account: a row for each part of the window, also for those without incidents, so that charts
// have no holes.
func account(c *api.Call, in Request) (reply Account, err error) {
	name := func(q *query, _ int64) (Row, error) { return Row{AccountID: q.account}, nil }
	rows, whole, err := sourceOf(c).withTotal(in, func(*query, *incident.Incident) (int64, error) { return 0, nil }, name)
	if err != nil {
		return reply, err
	}
	zone, err := in.zone(c.Who.Zone)
	if err != nil {
		return reply, err
	}
	known := map[key]Dimension{}
	for _, d := range rows.Items {
		known[key{ts: d.TS, hours: d.Hours}] = d
	}
	reply = Account{Items: []Dimension{}, Total: dimension(Row{AccountID: c.Who.AccountID}, &whole)}
	hours := []string{""}
	if in.SplitHours {
		hours = []string{insight.Work, insight.Sleep, insight.Off}
	}
	for _, ts := range (insight.Buckets{Unit: in.AggregateUnit, Zone: zone}).All(in.StartTime, in.EndTime) {
		for _, h := range hours {
			d, found := known[key{ts: ts, hours: h}]
			if !found {
				d = dimension(Row{AccountID: c.Who.AccountID, TS: ts, Hours: h}, &insight.Total{})
			}
			reply.Items = append(reply.Items, d)
		}
	}
	return reply, nil
}
