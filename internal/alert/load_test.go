package alert_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
)

// TestDumpEqualsLoad loads random records and reads them back.
func TestDumpEqualsLoad(t *testing.T) {
	s := start(t)
	s.Exec(`DELETE FROM alert`)
	undo := errors.New("undo")
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		records := []alert.Alert{}
		for i := range rng.IntN(10) {
			records = append(records, randomAlert(rng, i))
		}
		err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
			if err := alert.Load(tx, apitest.AccountA, records); err != nil {
				return err
			}
			same(t, seed, tx, apitest.AccountA, records)
			same(t, seed, tx, apitest.AccountB, []alert.Alert{})
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func same(t *testing.T, seed uint64, tx *db.Tx, account int64, want []alert.Alert) {
	t.Helper()
	got, err := alert.Dump(tx, account)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("seed %d: %v; got\n%+v\nwant\n%+v", seed, err, got, want)
	}
}

// randomAlert returns an alert as Dump returns it: with the names of its channel and with the older names.
func randomAlert(rng *rand.Rand, i int) alert.Alert {
	text := func() string { return []string{"", "支付", `"a" & <b>`, strings.Repeat("é", 300)}[rng.IntN(4)] }
	level := func() string { return []string{"Critical", "Warning", "Info", "Ok"}[rng.IntN(4)] }
	n := func() int64 { return rng.Int64N(3) * 1712650000 }
	a := alert.Alert{AlertID: fmt.Sprintf("%024x", i), AccountID: apitest.AccountA, Title: text(), TitleRule: text(), Description: text(), AlertKey: text(),
		AlertSeverity: level(), AlertStatus: level(), StartTime: n(), LastTime: n(), EndTime: n(), EventCnt: n(), Labels: map[string]string{}, Images: []alert.Image{},
		EverMuted: rng.IntN(2) == 0, CreatedAt: n(), UpdatedAt: n(), DeletedAt: n(), IntegrationID: n(), IntegrationName: text(), IntegrationType: text(), IntegrationRefID: text(),
		ResponderName: text(), ResponderEmail: text()}
	a.DataSourceID = a.IntegrationID
	a.DataSourceName = a.IntegrationName
	a.DataSourceType = a.IntegrationType
	a.DataSourceRefID = a.IntegrationRefID
	for range rng.IntN(4) {
		a.Labels["l"+text()] = text()
		a.Images = append(a.Images, alert.Image{Src: "img_" + text(), Href: text(), Alt: text()})
	}
	switch rng.IntN(3) {
	case 0:
		a.ChannelID = 1002
		a.ChannelName = "Security"
		a.ChannelStatus = "disabled"
	case 1:
		a.ChannelID = 7
	}
	switch rng.IntN(3) {
	case 0:
		a.Incident = &alert.Incident{IncidentID: "663a1b2c3d4e5f6789abcdf0", Title: "Payments are slow", Progress: "Processing"}
	case 1:
		a.Incident = &alert.Incident{IncidentID: "663a1b2c3d4e5f6789abcdf1"}
	}
	return a
}

func TestLoadReadsOlderNames(t *testing.T) {
	s := start(t)
	a := least("663a1b2c3d4e5f6789abcd0A", 0)
	a.DataSourceID = 5
	a.DataSourceName = "Prometheus"
	a.DataSourceType = "prometheus"
	a.DataSourceRefID = "prom-1"
	a.ChannelName = "a name that is not kept"
	s.Write(func(tx *db.Tx) error { return alert.Load(tx, apitest.AccountA, []alert.Alert{a}) })
	var got alert.Alert
	s.Call(apitest.KeyA, "/alert/info", `{"alert_id": "663a1b2c3d4e5f6789abcd0a"}`).Into(&got)
	if got.IntegrationID != 5 || got.IntegrationName != "Prometheus" || got.IntegrationType != "prometheus" || got.IntegrationRefID != "prom-1" || got.ChannelName != "" {
		t.Errorf("%+v", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		spoil func(a *alert.Alert)
		want  string
	}{
		{func(a *alert.Alert) { a.AlertID = full }, "alerts[0].alert_id: 663a1b2c3d4e5f6789abcdef is given twice"},
		{func(a *alert.Alert) { a.AlertID = "" }, `alerts[0].alert_id: must be 24 hexadecimal digits, got ""`},
		{func(a *alert.Alert) { a.AccountID = 1 }, "alerts[0].account_id: must be 2451002751131, the account of the file, got 1"},
		{func(a *alert.Alert) { a.AlertSeverity = "" }, `alerts[0].alert_severity: must be one of Critical, Warning, Info, Ok, got ""`},
		{func(a *alert.Alert) { a.AlertStatus = "critical" }, `alerts[0].alert_status: must be one of Critical, Warning, Info, Ok, got "critical"`},
		{func(a *alert.Alert) { a.StartTime = -1 }, "alerts[0].start_time: must be at least 0, got -1"},
		{func(a *alert.Alert) { a.EventCnt = -1 }, "alerts[0].event_cnt: must be at least 0, got -1"},
		{func(a *alert.Alert) { a.Images = []alert.Image{{Src: "a"}, {Alt: "b"}} }, "alerts[0].images[1].src: is required"},
		{func(a *alert.Alert) { a.Incident = &alert.Incident{} }, "alerts[0].incident.incident_id: must be 24 hexadecimal digits"},
	} {
		a := least("663a1b2c3d4e5f6789abcd99", 1001)
		c.spoil(&a)
		err := s.DB.Write(context.Background(), func(tx *db.Tx) error { return alert.Load(tx, apitest.AccountA, []alert.Alert{a}) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
