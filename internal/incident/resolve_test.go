package incident_test

import (
	"fmt"
	"log/slog"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

const (
	crowded = "663a1b2c3d4e5f6789abcd00" // an incident with manyAlerts
	bare    = "663a1b2c3d4e5f6789abcdf9"

	manyAlerts = 900
)

// closings counts the alerts and incidents that are closed, by transaction.
type closings struct {
	*apitest.Server
	incidents *incident.Service
	closed    map[*db.Tx]int
	ends      int
}

func startClosings(t *testing.T) *closings {
	s := &closings{closed: map[*db.Tx]int{}}
	bus := &activity.Bus{}
	bus.Subscribe(func(tx *db.Tx, item activity.Item) error {
		switch item.Event.Type() {
		case activity.AlertClosed{}.Type():
			s.closed[tx]++
		case activity.Resolved{}.Type():
			s.ends++
		}
		return nil
	})
	s.incidents = &incident.Service{Bus: bus, Log: slog.New(slog.DiscardHandler)}
	s.Server = apitest.Start(t, s.incidents.Ops())
	s.incidents.DB = s.DB
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}}); err != nil {
			return err
		}
		if err := incident.Load(tx, apitest.AccountA, []incident.Incident{
			{IncidentID: crowded, Title: "Open", ChannelID: 1001, StartTime: 1776000001},
			{IncidentID: bare, Title: "Over", ChannelID: 1001, StartTime: 1776000001},
		}); err != nil {
			return err
		}
		var all []alert.Alert
		for n := range manyAlerts {
			all = append(all, alert.Alert{AlertID: fmt.Sprintf("663a1b2c3d4e5f67%08x", n), AlertKey: fmt.Sprint(n), ChannelID: 1001,
				Incident: &alert.Incident{IncidentID: crowded}, Title: "T", AlertSeverity: "Critical", AlertStatus: "Critical",
				StartTime: 1776000001, LastTime: 1776000001, EventCnt: 1})
		}
		return alert.Load(tx, apitest.AccountA, all)
	})
	return s
}

// inPieces checks that all alerts were closed, few of them in each transaction.
func (s *closings) inPieces(t *testing.T, ends int) {
	t.Helper()
	sum := 0
	for _, n := range s.closed {
		if sum += n; n > 200 {
			t.Errorf("%d alerts in a transaction", n)
		}
	}
	if sum != manyAlerts || len(s.closed) < manyAlerts/200 || s.ends != ends {
		t.Errorf("%d of %d alerts are closed in %d transactions, %d ends", sum, manyAlerts, len(s.closed), s.ends)
	}
}

// Thousands of alerts are closed in many transactions, so that others write between them; the incidents are closed in the
// last one. A call that is refused closes none.
func TestResolveClosesManyAlertsInPieces(t *testing.T) {
	t.Parallel()
	s := startClosings(t)
	if reply := s.Call(apitest.KeyA, "/incident/resolve", `{"incident_ids":["`+bare+`"]}`); reply.Status != 200 || s.ends != 1 {
		t.Fatalf("%s", reply.Body)
	}
	if reply := s.Call(apitest.KeyA, "/incident/resolve", `{"incident_ids":["`+crowded+`","`+bare+`"]}`); reply.Code != "BadRequest" || len(s.closed) > 0 {
		t.Errorf("%s: %d transactions closed alerts", reply.Body, len(s.closed))
	}
	if reply := s.Call(apitest.KeyA, "/incident/resolve", `{"incident_ids":["`+crowded+`"]}`); reply.Status != 200 {
		t.Fatalf("%s", reply.Body)
	}
	s.inPieces(t, 2)
}

func TestRemovalClosesManyAlertsInPieces(t *testing.T) {
	t.Parallel()
	s := startClosings(t)
	both := `{"incident_ids":["` + crowded + `","` + bare + `"]`
	if reply := s.Call(apitest.KeyA, "/incident/remove", both+`,"dry_run":true}`); reply.Status != 200 || len(s.closed) > 0 || s.ends > 0 {
		t.Errorf("a dry run closes alerts in %d transactions: %s", len(s.closed), reply.Body)
	}
	if reply := s.Call(apitest.KeyA, "/incident/remove", both+`}`); reply.Status != 200 {
		t.Fatalf("%s", reply.Body)
	}
	s.inPieces(t, 2)
}

func TestTimeoutClosesManyAlertsInPieces(t *testing.T) {
	t.Parallel()
	s := startClosings(t)
	s.Exec(`UPDATE incident SET resolve_at = $2 WHERE account_id = $1`, apitest.AccountA, s.Clock.Now().Unix())
	for range 2 { // the second run meets closed incidents
		if _, err := s.incidents.Job().Run(t.Context(), s.Clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	s.inPieces(t, 2)
}
