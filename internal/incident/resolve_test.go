package incident_test

import (
	"fmt"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// Thousands of alerts are closed in many transactions, so that others write between them; the incidents are closed in the
// last one. A call that is refused closes none.
func TestResolveClosesManyAlertsInPieces(t *testing.T) {
	t.Parallel()
	const open, over, alerts = "663a1b2c3d4e5f6789abcd00", "663a1b2c3d4e5f6789abcdf9", 900
	closed, ends := map[*db.Tx]int{}, 0
	bus := &activity.Bus{}
	bus.Subscribe(func(tx *db.Tx, item activity.Item) error {
		switch item.Event.Type() {
		case activity.AlertClosed{}.Type():
			closed[tx]++
		case activity.Resolved{}.Type():
			ends++
		}
		return nil
	})
	s := apitest.Start(t, (&incident.Service{Bus: bus}).Ops())
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}}); err != nil {
			return err
		}
		if err := incident.Load(tx, apitest.AccountA, []incident.Incident{
			{IncidentID: open, Title: "Open", ChannelID: 1001, StartTime: 1776000001},
			{IncidentID: over, Title: "Over", ChannelID: 1001, StartTime: 1776000001},
		}); err != nil {
			return err
		}
		var all []alert.Alert
		for n := range alerts {
			all = append(all, alert.Alert{AlertID: fmt.Sprintf("663a1b2c3d4e5f67%08x", n), AlertKey: fmt.Sprint(n), ChannelID: 1001, Incident: &alert.Incident{IncidentID: open},
				Title: "T", AlertSeverity: "Critical", AlertStatus: "Critical", StartTime: 1776000001, LastTime: 1776000001, EventCnt: 1})
		}
		return alert.Load(tx, apitest.AccountA, all)
	})
	if reply := s.Call(apitest.KeyA, "/incident/resolve", `{"incident_ids":["`+over+`"]}`); reply.Status != 200 || ends != 1 {
		t.Fatalf("%s", reply.Body)
	}
	if reply := s.Call(apitest.KeyA, "/incident/resolve", `{"incident_ids":["`+open+`","`+over+`"]}`); reply.Code != "BadRequest" || len(closed) > 0 {
		t.Errorf("%s: %d transactions closed alerts", reply.Body, len(closed))
	}
	if reply := s.Call(apitest.KeyA, "/incident/resolve", `{"incident_ids":["`+open+`"]}`); reply.Status != 200 {
		t.Fatalf("%s", reply.Body)
	}
	sum := 0
	for _, n := range closed {
		if sum += n; n > 200 {
			t.Errorf("%d alerts in a transaction", n)
		}
	}
	if sum != alerts || len(closed) < alerts/200 || ends != 2 {
		t.Errorf("%d of %d alerts are closed in %d transactions, %d ends", sum, alerts, len(closed), ends)
	}
}
