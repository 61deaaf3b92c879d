package insight_test

import (
	"fmt"
	"testing"

	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/insight"
	"tocsin/internal/platform/db"
	"tocsin/internal/team"
)

const (
	start  = 1775955600 // Sunday 2026-04-12 09:00 in Shanghai, where the account is
	first  = "663a1b2c3d4e5f6789abcd01"
	second = "663a1b2c3d4e5f6789abcd02"
	third  = "663a1b2c3d4e5f6789abcd03" // of a private channel
	drill  = "663a1b2c3d4e5f6789abcd04"
)

// window is the window of all incidents of the fixture as members of a body.
var window = fmt.Sprintf(`"start_time":%d,"end_time":%d`, start, start+3*86400)

// entry is one line of a feed: seconds after start, type, person and detail.
type entry struct {
	at     int64
	kind   string
	person int64
	detail string
}

// begin starts a server with four incidents: one that was escalated, acknowledged and closed, one that is open, one of a
// private channel, and a drill.
func begin(t *testing.T) *apitest.Server {
	service := insight.New(nil)
	s := apitest.Start(t, service.Ops())
	service.DB = s.DB
	s.Grant(auth.IncidentsRead, auth.ChannelsRead)
	s.Exec(`UPDATE person SET time_zone = 'Europe/Berlin' WHERE person_id = $1`, apitest.Reader)
	s.Write(func(tx *db.Tx) error {
		if err := team.Load(tx, apitest.AccountA, []team.Record{{TeamID: 99, TeamName: "Others"}}); err != nil {
			return err
		}
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "=Payments", TeamID: apitest.TeamA},
			{ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		err := incident.Load(tx, apitest.AccountA, []incident.Incident{
			{IncidentID: first, Title: "=cmd|' /C calc'!A0", ChannelID: 1001, Progress: "Closed", Severity: "Critical", StartTime: start, AlertCnt: 2, CloserID: apitest.Reader,
				Assignments: []incident.Assignment{{PersonID: apitest.OwnerA, AssignedAt: start}, {PersonID: apitest.Reader, AssignedAt: start + 300, AcknowledgedAt: start + 600}},
				Detail:      incident.Detail{Description: "<p>5 &lt; 6</p>Disk <b>full</b>", AckTime: start + 600, CloseTime: start + 3600, Labels: map[string]string{"env": "prod"}}},
			{IncidentID: second, Title: "Slow", ChannelID: 1001, Progress: "Triggered", Severity: "Warning", StartTime: start + 86400 + 14*3600, CreatorID: apitest.OwnerA,
				Assignments: []incident.Assignment{{PersonID: apitest.OwnerA, AssignedAt: start + 86400 + 14*3600}}},
			{IncidentID: third, Title: "Secret", ChannelID: 1002, Progress: "Triggered", Severity: "Info", StartTime: start + 60},
			{IncidentID: drill, Title: "Drill", ChannelID: 1001, Progress: "Triggered", Severity: "Info", StartTime: start + 70, Detail: incident.Detail{Test: true}},
		})
		if err != nil {
			return err
		}
		return alert.Load(tx, apitest.AccountA, []alert.Alert{
			{AlertID: "663a1b2c3d4e5f6789abce01", ChannelID: 1001, Title: "Disk", AlertSeverity: "Critical", AlertStatus: "Ok", StartTime: start, EndTime: start + 9, EventCnt: 5, Labels: map[string]string{"check": "disk", "host": "db1"}, Incident: &alert.Incident{IncidentID: first}},
			{AlertID: "663a1b2c3d4e5f6789abce02", ChannelID: 1001, Title: "Disk", AlertSeverity: "Critical", AlertStatus: "Ok", StartTime: start + 1, EndTime: start + 9, EventCnt: 3, Labels: map[string]string{"alertname": "disk", "host": "db2"}, Incident: &alert.Incident{IncidentID: first}},
			{AlertID: "663a1b2c3d4e5f6789abce03", ChannelID: 1001, Title: "CPU", AlertSeverity: "Warning", AlertStatus: "Warning", StartTime: start + 2, EventCnt: 20, Labels: map[string]string{"check": "cpu", "host": "db2"}},
			{AlertID: "663a1b2c3d4e5f6789abce04", ChannelID: 1002, Title: "Secret", AlertSeverity: "Info", AlertStatus: "Info", StartTime: start + 3, EventCnt: 99, Labels: map[string]string{"check": "secret"}, Incident: &alert.Incident{IncidentID: third}},
		})
	})
	const rule = `"escalate_rule_id":"5e5e5e5e5e5e5e5e5e5e5e01"`
	notified := func(layer int, by string, person int64) string {
		return fmt.Sprintf(`{"by":%q,"layer_idx":%d,%s,"persons":[{"person_id":%d}]}`, by, layer, rule, person)
	}
	feed(s, first,
		entry{0, "i_new", 0, `{}`},
		entry{1, "i_assign", 0, fmt.Sprintf(`{"type":"escalate","person_ids":[%d],%s,"layer_idx":0}`, apitest.OwnerA, rule)},
		entry{5, "i_notify", 0, notified(0, "voice", apitest.OwnerA)},
		entry{6, "i_notify", 0, notified(0, "sms", apitest.OwnerA)}, // of the same interruption
		entry{300, "i_assign", 0, fmt.Sprintf(`{"type":"escalate","person_ids":[%d],%s,"layer_idx":1}`, apitest.Reader, rule)},
		entry{301, "i_notify", 0, notified(1, "sms", apitest.Reader)}, // 03:05 in Berlin
		entry{600, "i_ack", apitest.Reader, `{}`},
		entry{3600, "i_rslv", apitest.Reader, `{"from":"manual"}`})
	feed(s, second, entry{86400 + 14*3600, "i_new", 0, `{}`}, entry{86400 + 14*3600 + 2, "i_notify", 0, notified(0, "email", apitest.OwnerA)})
	feed(s, third, entry{61, "i_notify", 0, notified(0, "sms", apitest.OwnerA)})
	feed(s, drill, entry{71, "i_notify", 0, notified(0, "sms", apitest.OwnerA)})
	return s
}

// feed writes the feed of an incident.
func feed(s *apitest.Server, id string, entries ...entry) {
	for n, e := range entries {
		s.Exec(`INSERT INTO feed (account_id, ref_id, feed_id, created_at, type, person_id, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			apitest.AccountA, id, n+1, (start+e.at)*1000, e.kind, e.person, e.detail)
	}
}

// sent stores a notification that was sent, seconds after start.
func sent(s *apitest.Server, number int, at int64, incident string, person int64, method, bundle string) {
	s.Exec(`INSERT INTO notice (account_id, notice_id, notice_key, incident_id, schedule_id, event, cause, person_id, way, lane, target, reason, detail, status, attempts, due_at, created_at, settled_at, outcome, bundle)
		VALUES ($1, $2, $2, $3, 0, 'i_new', 'page', $4, $5, 'x', '', '', '{}', 'sent', 1, $6, $6, $6, '', $7)`,
		apitest.AccountA, fmt.Sprintf("663a1b2c3d4e5f6789bb%04d", number), incident, person, method, (start+at)*1000, bundle)
}
