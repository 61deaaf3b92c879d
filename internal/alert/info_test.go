package alert_test

import (
	"testing"

	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

const (
	full    = "663a1b2c3d4e5f6789abcdef"
	short   = "663a1b2c3d4e5f6789abcd01"
	private = "663a1b2c3d4e5f6789abcd02"
	deleted = "663a1b2c3d4e5f6789abcd03"
)

func start(t *testing.T) *apitest.Server {
	s := apitest.Start(t, alert.Ops())
	s.Grant(auth.ChannelsRead)
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{
			{ChannelID: 1001, ChannelName: "Payments", TeamID: apitest.TeamA},
			{ChannelID: 1002, ChannelName: "Security", TeamID: apitest.TeamA, IsPrivate: true, Status: "disabled"},
		}); err != nil {
			return err
		}
		if err := incident.Load(tx, apitest.AccountA, []incident.Incident{{IncidentID: "663a1b2c3d4e5f6789abcdf0", Title: "Payments are slow", ChannelID: 1001, Progress: "Processing"}}); err != nil {
			return err
		}
		return alert.Load(tx, apitest.AccountA, []alert.Alert{complete(), least(short, 0), least(private, 1002), gone()})
	})
	return s
}

func complete() alert.Alert {
	return alert.Alert{
		AlertID: full, ChannelID: 1001, IntegrationID: 6113996590131, IntegrationName: "Prometheus", IntegrationType: "prometheus", IntegrationRefID: "prom-1",
		Title: "CPU usage > 90%", TitleRule: "$service::$cluster", Description: "90 % for 5 minutes", AlertKey: "cpu/payments",
		AlertSeverity: "Critical", AlertStatus: "Warning", StartTime: 1712650000, LastTime: 1712650300, EndTime: 1712650600, EventCnt: 3,
		Labels: map[string]string{"service": "payments"}, Images: []alert.Image{{Src: "https://example.com/cpu.png", Href: "https://example.com", Alt: "CPU"}, {Src: "img_1"}},
		EverMuted: true, CreatedAt: 1712650001, UpdatedAt: 1712650601, ResponderName: "Rita Reader", ResponderEmail: "r@example.com",
		Incident: &alert.Incident{IncidentID: "663a1b2c3d4e5f6789abcdf0"},
	}
}

func least(id string, channel int64) alert.Alert {
	return alert.Alert{AlertID: id, ChannelID: channel, Title: "CPU usage > 90%", AlertSeverity: "Critical", AlertStatus: "Critical", StartTime: 1712650000, EventCnt: 3}
}

func gone() alert.Alert {
	a := least(deleted, 1001)
	a.DeletedAt = 1712650000
	return a
}

func TestInfo(t *testing.T) {
	s := start(t)
	body := func(id string) string { return `{"alert_id": "` + id + `"}` }
	s.Scenarios(t, "/alert/info", []apitest.Scenario{
		{Name: "in full", Body: body(full), Golden: "alert_info"},
		{Name: "in upper case", Body: body("663A1B2C3D4E5F6789ABCDEF"), Golden: "alert_info"},
		{Name: "what is not known is zero", Body: body(short), Golden: "alert_info_least"},
		{Name: "a reader", Key: apitest.KeyReader, Body: body(full)},
		{Name: "no permission", Key: apitest.KeyNothing, Body: body(full), Code: "AccessDenied", Says: []string{"Channels Read (on-call)"}},
		{Name: "private, in the team", Key: apitest.KeyReader, Body: body(private)},
		{Name: "deleted", Body: body(deleted), Code: "ResourceNotFound"},
		{Name: "unknown", Body: body("000000000000000000000000"), Code: "ResourceNotFound", Says: []string{"alert 000000000000000000000000"}},
		{Name: "another account's", Key: apitest.KeyB, Body: body(full), Code: "ResourceNotFound"},
		{Name: "23 digits", Body: body(full[1:]), Code: "InvalidParameter", Says: []string{"alert_id", "24 hexadecimal digits", full[1:]}},
		{Name: "25 digits", Body: body(full + "0"), Code: "InvalidParameter", Says: []string{"24 hexadecimal digits"}},
		{Name: "not hexadecimal", Body: body("663a1b2c3d4e5f6789abcdeg"), Code: "InvalidParameter"},
		{Name: "a line end behind it", Body: body(full + `\n`), Code: "InvalidParameter"},
		{Name: "empty", Body: body(""), Code: "InvalidParameter"},
		{Name: "a number", Body: `{"alert_id": 663}`, Code: "InvalidParameter", Says: []string{"alert_id", "string", "663"}},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"alert_id", "required"}},
	})
	s.Exec(`DELETE FROM team_person WHERE account_id = $1`, apitest.AccountA)
	s.Scenarios(t, "/alert/info", []apitest.Scenario{
		{Name: "private, outside the team", Key: apitest.KeyReader, Body: body(private), Code: "AccessDenied", Says: []string{"channel 1002 is private"}},
		{Name: "private, the owner", Body: body(private)},
		{Name: "open, outside the team", Key: apitest.KeyReader, Body: body(full)},
	})
}

// TestAlertOutlivesItsChannelAndIncident deletes both and reads the alert.
func TestAlertOutlivesItsChannelAndIncident(t *testing.T) {
	s := start(t)
	s.Exec(`DELETE FROM channel WHERE account_id = $1`, apitest.AccountA)
	s.Exec(`DELETE FROM incident WHERE account_id = $1`, apitest.AccountA)
	var a alert.Alert
	s.Call(apitest.KeyReader, "/alert/info", `{"alert_id": "`+full+`"}`).Into(&a)
	if a.ChannelID != 1001 || a.ChannelName != "" || a.ChannelStatus != "" || a.Incident == nil || *a.Incident != (alert.Incident{IncidentID: "663a1b2c3d4e5f6789abcdf0"}) {
		t.Errorf("%+v with incident %+v", a, a.Incident)
	}
}
