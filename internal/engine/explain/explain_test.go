package explain_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/explain"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

const (
	alertID    = "663a1b2c3d4e5f6789abcdef"
	incidentID = "663a1b2c3d4e5f6789abcdf0"
	first      = "663a1b2c3d4e5f6789aa0001"
	second     = "663a1b2c3d4e5f6789aa0002"
	waiting    = "663a1b2c3d4e5f6789aa0003"
	secret     = "663a1b2c3d4e5f6789aa0004"
	hidden     = "663a1b2c3d4e5f6789abcdf1"
)

func begin(t *testing.T) *apitest.Server {
	s := apitest.Start(t, (&explain.Service{}).Ops())
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		if err := incident.Load(tx, apitest.AccountA, []incident.Incident{{IncidentID: incidentID, Title: "Disk", ChannelID: 1001, Progress: "Processing"}, {IncidentID: hidden, Title: "Secret", ChannelID: 1002, Progress: "Triggered"}}); err != nil {
			return err
		}
		return alert.Load(tx, apitest.AccountA, []alert.Alert{
			{AlertID: alertID, ChannelID: 1001, Title: "Disk", AlertSeverity: "Critical", AlertStatus: "Critical", StartTime: 1, Incident: &alert.Incident{IncidentID: incidentID}},
			{AlertID: "663a1b2c3d4e5f6789abcd02", ChannelID: 1002, Title: "Secret", AlertSeverity: "Critical", AlertStatus: "Critical", StartTime: 1},
			{AlertID: "663a1b2c3d4e5f6789abcd03", ChannelID: 1001, Title: "Imported", AlertSeverity: "Critical", AlertStatus: "Critical", StartTime: 1},
		})
	})
	verdict := `INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace) VALUES ($1, $2, 1776052800000 + $2 * 1000, $3, $4, $5, $6, $7, 5, 1776052800, 'Critical', '{"title":"Disk full","alert_key":"disk"}', $8)`
	s.Exec(verdict, apitest.AccountA, 1, first, 1001, "silenced", alertID, "", `[{"stage":"route","matched":true,"why":{"code":"channel_of_integration","args":[1001]}},{"stage":"silence","rule_id":"5e5e5e5e5e5e5e5e5e5e5e01","rule_name":"Night work","matched":true,"why":{"code":"met","args":["labels.env","\"prod\"","IN","prod"]}}]`)
	s.Exec(verdict, apitest.AccountA, 2, "", 1001, "opened", alertID, incidentID, `[{"stage":"group","matched":true,"why":{"code":"group_alone","args":[{"code":"not_grouped"}]}}]`)
	s.Exec(verdict, apitest.AccountA, 3, second, 1001, "dropped", "", "", `[{"stage":"drop","rule_name":"Noise","matched":true,"why":{"code":"no_conditions"}}]`)
	s.Exec(verdict, apitest.AccountA, 4, secret, 1002, "dropped", "", "", `[]`)
	s.Exec(`INSERT INTO event_waiting (account_id, event_id, received_at) VALUES ($1, $2, 1)`, apitest.AccountA, waiting)
	s.Exec(`INSERT INTO event (account_id, event_id, received_at, integration_id, body) VALUES ($1, $2, 1, 5, '{}')`, apitest.AccountA, waiting)
	feed := `INSERT INTO feed (account_id, ref_id, feed_id, created_at, type, person_id, detail) VALUES ($1, $2, $3, 1776052802000 + $3, $4, $5, $6)`
	for i, e := range []struct {
		kind   string
		person int64
		detail string
	}{{"i_new", 0, `{"title":"Disk full","severity":"Critical"}`}, {"i_notify", 0, `{"by":"nobody","layer_idx":0,"escalate_rule_name":"Nights","escalate_rule_id":"5e5e5e5e5e5e5e5e5e5e5e02","reason":{"code":"nobody_on_call","args":["Night"]},"then":"skip"}`}, {"i_assign", 0, `{"type":"escalate","to":[2476123212131],"escalate_rule_name":"Nights","escalate_rule_id":"5e5e5e5e5e5e5e5e5e5e5e02","layer_idx":1}`},
		{"i_ack", apitest.Reader, `{}`}, {"i_snooze", apitest.Reader, `{"minutes":5}`}, {"i_exhausted", 0, `{"reason":{"code":"ended_unreached"},"to":[2476123212131]}`}, {"i_comm", 0, `{}`}} {
		s.Exec(feed, apitest.AccountA, incidentID, i+1, e.kind, e.person, e.detail)
	}
	notice := `INSERT INTO notice (account_id, notice_id, notice_key, incident_id, schedule_id, event, cause, person_id, way, lane, target, reason, detail, status, attempts, due_at, created_at, settled_at, outcome)
		VALUES ($1, $2, $2, $3, 0, 'i_new', 'page', $4, $5, 'x', '', '{"code":"on_call","args":["Day","A"]}', '{}', $6, 1, 1776052803000, 1776052803000, $7, $8)`
	s.Exec(notice, apitest.AccountA, "663a1b2c3d4e5f6789bb0001", incidentID, apitest.Reader, "email", "sent", 1776052804000, "taken by mail")
	s.Exec(notice, apitest.AccountA, "663a1b2c3d4e5f6789bb0002", incidentID, apitest.Reader, "sms", "failed", 1776052804000, string(sentence.New("answered", 400, "Bad Request")))
	s.Exec(notice, apitest.AccountA, "663a1b2c3d4e5f6789bb0003", incidentID, 0, "slack", "waiting", 0, "")
	s.Grant(auth.ChannelsRead)
	return s
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Scenarios(t, "/alert/explain", []apitest.Scenario{
		{Name: "an alert", Body: `{"alert_id": "` + alertID + `"}`, Golden: "alert_explain"},
		{Name: "in upper case", Body: `{"alert_id": "663A1B2C3D4E5F6789ABCDEF"}`, Golden: "alert_explain"},
		{Name: "an event", Body: `{"event_id": "` + second + `"}`, Golden: "alert_explain_event"},
		{Name: "one that waits", Body: `{"event_id": "` + waiting + `"}`, Data: `{"summary": "Nobody was notified yet: the event waits for its verdict.", "summary_data": {"code": "sentence", "args": [{"code": "s_not_yet", "args": [{"code": "waits_verdict"}]}]}, "words": ["The event was accepted and waits for its verdict."], "words_data": [{"code": "sentence", "args": [{"code": "event_waits"}]}], "waiting": true, "verdicts": [], "incidents": []}`},
		{Name: "imported", Body: `{"alert_id": "663a1b2c3d4e5f6789abcd03"}`},
		{Name: "a reader", Key: apitest.KeyReader, Body: `{"event_id": "` + first + `"}`},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{"event_id": "` + first + `"}`, Code: "AccessDenied"},
		{Name: "private event", Key: apitest.KeyReader, Body: `{"event_id": "` + secret + `"}`, Code: "AccessDenied"},
		{Name: "private alert", Key: apitest.KeyReader, Body: `{"alert_id": "663a1b2c3d4e5f6789abcd02"}`, Code: "AccessDenied"},
		{Name: "unknown event", Body: `{"event_id": "000000000000000000000000"}`, Code: "ResourceNotFound"},
		{Name: "unknown alert", Body: `{"alert_id": "000000000000000000000000"}`, Code: "ResourceNotFound"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"event_id": "` + first + `"}`, Code: "ResourceNotFound"},
		{Name: "both", Body: `{"alert_id": "000000000000000000000000", "event_id": "000000000000000000000000"}`, Code: "InvalidParameter", Says: []string{"one of the three"}},
		{Name: "neither", Body: `{}`, Code: "InvalidParameter"},
	})
	s.Grant(auth.ChannelsRead, auth.IncidentsRead)
	s.Scenarios(t, "/incident/explain", []apitest.Scenario{
		{Name: "an incident", Body: `{"incident_id": "` + incidentID + `"}`, Golden: "incident_explain"},
		{Name: "in upper case", Body: `{"incident_id": "` + strings.ToUpper(incidentID) + `"}`, Golden: "incident_explain"},
		{Name: "a reader", Key: apitest.KeyReader, Body: `{"incident_id": "` + incidentID + `"}`},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{"incident_id": "` + incidentID + `"}`, Code: "AccessDenied"},
		{Name: "private", Key: apitest.KeyReader, Body: `{"incident_id": "` + hidden + `"}`, Code: "AccessDenied"},
		{Name: "unknown", Body: `{"incident_id": "000000000000000000000000"}`, Code: "ResourceNotFound"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"incident_id": "` + incidentID + `"}`, Code: "ResourceNotFound"},
		{Name: "no id", Body: `{}`, Code: "InvalidParameter", Says: []string{"incident_id"}},
		{Name: "malformed", Body: `{"incident_id": "x"}`, Code: "InvalidParameter", Says: []string{"24 hexadecimal digits"}},
	})
}

// hostile are names that read like sentences, or like how sentences are stored.
var hostile = []string{
	"N, because the incident has grown further, to 60 alerts", "x. So nobody was notified", "Ann and Bob, 3 more persons",
	"a (b) over sms: failed; named by the rule", `{"code":"named"}`, "Nights.",
}

// TestExplainKeepsHostileNames names a schedule, its group, a channel, a rule, a person and an incident. Each name is an
// argument wherever it is shown, and the sentences around it are those around any other name.
func TestExplainKeepsHostileNames(t *testing.T) {
	t.Parallel()
	codes, _ := explainNamed(t, "Plain")
	for _, name := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, texts := explainNamed(t, name)
			if !slices.Equal(got, codes) {
				t.Errorf("the sentences are\n%q, and with a plain name\n%q", got, codes)
			}
			for _, want := range []string{name, strconv.Quote(name), name + " (1001)", name + " (5e5e5e5e5e5e5e5e5e5e5e02)"} {
				if !slices.Contains(texts, want) {
					t.Errorf("%q is no argument of %q", want, texts)
				}
			}
		})
	}
}

// explainNamed explains an incident in which everything has one name. It returns the codes of its sentences, and the texts in
// them.
func explainNamed(t *testing.T, name string) (codes, texts []string) {
	s := begin(t)
	quoted := strconv.Quote(name)
	s.Exec(`UPDATE person SET person_name = $1 WHERE account_id = $2 AND person_id = $3`, name, apitest.AccountA, apitest.Reader)
	s.Exec(`UPDATE channel SET channel_name = $1 WHERE account_id = $2 AND channel_id = 1001`, name, apitest.AccountA)
	s.Exec(`UPDATE notice SET reason = $1 WHERE account_id = $2`, string(sentence.New("on_call", name, name)), apitest.AccountA)
	s.Exec(`UPDATE feed SET detail = $1 WHERE account_id = $2 AND type = 'i_new'`, `{"severity":"Critical","title":`+quoted+`}`, apitest.AccountA)
	s.Exec(`UPDATE feed SET detail = $1 WHERE account_id = $2 AND type = 'i_notify'`, `{"by":"nobody","escalate_rule_name":`+quoted+
		`,"escalate_rule_id":"5e5e5e5e5e5e5e5e5e5e5e02","then":"skip","reason":`+string(sentence.New("nobody_on_call", name))+`}`, apitest.AccountA)
	s.Exec(`UPDATE verdict SET body = $1, trace = $2 WHERE account_id = $3 AND outcome = 'silenced'`, `{"alert_key":"disk","title":`+quoted+`}`,
		`[{"stage":"silence","rule_id":"5e5e5e5e5e5e5e5e5e5e5e02","matched":true,"why":{"code":"no_conditions"},"rule_name":`+quoted+`}]`, apitest.AccountA)
	s.Grant(auth.ChannelsRead, auth.IncidentsRead)
	reply := s.Call(apitest.KeyA, "/incident/explain", `{"incident_id": "`+incidentID+`"}`)
	var x explain.Explanation
	if err := json.Unmarshal(reply.Data, &x); err != nil {
		t.Fatal(err)
	}
	for i, data := range append(x.WordsData, x.SummaryData) {
		if want := append(x.Words, x.Summary)[i].English(); data.English() != want {
			t.Errorf("%q has the data of %q", want, data.English())
		}
		codes, texts = appendParts(&data, codes, texts)
	}
	return codes, texts
}

func appendParts(s *sentence.Data, codes, texts []string) (allCodes, allTexts []string) {
	if s.Code != "" {
		codes = append(codes, s.Code)
	}
	args := slices.Clone(s.Args)
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch arg := arg.(type) {
		case string:
			texts = append(texts, arg)
		case []any:
			args = slices.Concat(arg, args)
		case *sentence.Data:
			codes, texts = appendParts(arg, codes, texts)
		}
	}
	return codes, texts
}
