package channel_test

import (
	"fmt"
	"reflect"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
)

func TestEscalateRuleWarnings(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Person(apitest.AccountA, 71, "Piet Pending")
	s.Exec(`UPDATE person SET status = 'pending' WHERE person_id = 71`)
	s.Exec(`INSERT INTO team (account_id, team_id, team_name) VALUES ($1, 81, 'Empty'), ($1, 82, 'Invited')`, apitest.AccountA)
	s.Exec(`INSERT INTO team_person (account_id, team_id, person_id, position) VALUES ($1, 82, 71, 0)`, apitest.AccountA)
	for id, layers := range map[int]string{91: `[]`, 92: `[{"groups":[{"members":[{"role_id":0,"person_ids":[71]},{"role_id":1,"person_ids":[]}]}]}]`} {
		s.Exec(`INSERT INTO schedule (account_id, schedule_id, schedule_name, name_folded, description, team_id, status, time_zone, layers, notify, create_at, create_by, update_at, update_by)
			VALUES ($1, $2, 'S', 'S', '', 0, 0, '', $3, '', 0, 0, 0, 0)`, apitest.AccountA, id, layers)
	}
	const by = `"by":{"follow_preference":true}`
	target := func(more string) string { return `{"target":{` + more + `}}` }
	for name, c := range map[string]struct{ layers, more, want string }{
		"no warning":                 {emailLayer, "", ``},
		"an invited person":          {target(`"person_ids":[2476123212131,71],` + by), "", `layers[0].target.person_ids[1]: person 71 has not accepted the invitation yet`},
		"an empty team":              {target(`"team_ids":[81],` + by), "", `layers[0].target.team_ids[0]: team 81 has no member who can be notified`},
		"a team of invited persons":  {target(`"team_ids":[4291079133131,82],` + by), "", `layers[0].target.team_ids[1]: team 82 has no member who can be notified`},
		"a schedule without layers":  {target(`"schedule_to_role_ids":{"91":[0]},` + by), "", `layers[0].target.schedule_to_role_ids.91: schedule 91 is disabled or has no layers, so no one is on call in it`},
		"a schedule with people":     {target(`"schedule_to_role_ids":{"92":[0]},` + by), "", ``},
		"all roles of a schedule":    {target(`"schedule_to_role_ids":{"92":[]},` + by), "", ``},
		"a role that is empty":       {target(`"schedule_to_role_ids":{"92":[0,1]},` + by), "", `layers[0].target.schedule_to_role_ids.92[1]: no person has role 1 in schedule 92`},
		"an unknown role":            {target(`"schedule_to_role_ids":{"92":[7]},` + by), "", `layers[0].target.schedule_to_role_ids.92[0]: no person has role 7 in schedule 92`},
		"repeats without a step":     {`{"max_times":2,"target":{"emails":["a@b.c"]}}`, "", `layers[0].notify_step: is not set, so max_times has no effect`},
		"a step without repeats":     {`{"notify_step":5,"target":{"emails":["a@b.c"]}}`, "", `layers[0].max_times: is not set, so notify_step has no effect`},
		"the next layer is quicker":  {`{"max_times":2,"notify_step":30,"target":{"emails":["a@b.c"]}},` + emailLayer, "", `layers[0].notify_step: the next layer takes over after 30 minutes, before this one is notified again`},
		"time for one repeat":        {`{"max_times":2,"notify_step":29.5,"target":{"emails":["a@b.c"]}},` + emailLayer, "", ``},
		"no method for Critical":     {target(`"person_ids":[2476123212131],"by":{"info":["email"]}`), "", `layers[0].target.by.critical: is empty, so critical incidents notify no person`},
		"Critical goes to a chat":    {target(`"person_ids":[2476123212131],"by":{"info":["email"]},"webhooks":[{"type":"slack","settings":{"url":"u"}}]`), "", ``},
		"a chat without an address":  {target(`"webhooks":[{"type":"slack","settings":{}}]`), "", `layers[0].target.webhooks[0].settings: is empty, so the chat has no address`},
		"conditions that contradict": {emailLayer, `,"filters":[[{"key":"severity","oper":"IN","vals":["Info"]},{"key":"severity","oper":"NOTIN","vals":["Info"]}]]`, `filters[0]: never matches, no severity meets all conditions on it`},
	} {
		want := `{}`
		if c.want != "" {
			want = fmt.Sprintf(`{"warnings":[%q]}`, c.want)
		}
		t.Run(name, func(t *testing.T) {
			body := escalation("["+c.layers+"]", c.more)
			s.Converse(t, []apitest.Turn{
				{Path: "/channel/escalate/rule/create", Body: body, Has: want, Keep: map[string]string{"id": "rule_id"}},
				{Path: "/channel/escalate/rule/update", Body: `{"rule_id":"$id",` + body[1:], Data: want},
				{Path: "/channel/escalate/rule/delete", Body: `{"channel_id":1001,"rule_id":"$id"}`},
			})
		})
	}
}

// A method that no sender knows would be stored and notify no one.
func TestUnknownMethodsAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	for severity, method := range map[string]string{"critical": "phone", "warning": "emial", "info": "slack_app:x"} {
		body := escalation(`[{"target":{"person_ids":[2476123212131],"by":{"`+severity+`":["email","`+method+`"]}}}]`, "")
		s.Converse(t, []apitest.Turn{{Path: "/channel/escalate/rule/create", Body: body, Code: "InvalidParameter",
			Says: []string{"layers[0].target.by." + severity + "[1]", "one of email, sms, voice", method}}})
	}
}

// Only the first rule that matches an incident is used, so a rule after one that matches everything is not.
func TestEscalateRuleAfterOneForEverything(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path, hidden = "/channel/escalate/rule", `{"warnings":["priority: escalation rule $all (r) comes before this one and matches every incident, so this one is never used"]}`
	some := `,"filters":[[{"key":"severity","oper":"IN","vals":["Info"]}]]`
	body := func(more string) string { return escalation(many(1, emailLayer), more) }
	s.Converse(t, []apitest.Turn{
		{Path: path + "/create", Body: body(`,"priority":3`), Keep: map[string]string{"all": "rule_id"}},
		{Path: path + "/create", Body: body(some + `,"priority":2`), Has: `{"rule_name":"r"}`, Keep: map[string]string{"first": "rule_id"}},
		{Path: path + "/update", Body: `{"rule_id":"$first",` + body(some + `,"priority":3`)[1:], Data: hidden},
		{Path: path + "/update", Body: `{"rule_id":"$first",` + body(some + `,"priority":1`)[1:], Data: `{}`},
		{Path: path + "/create", Body: body(some + `,"priority":3`), Has: hidden, Keep: map[string]string{"last": "rule_id"}},
		{Path: path + "/update", Body: `{"rule_id":"$all",` + body("")[1:], Data: `{}`},
		{Path: path + "/disable", Body: `{"channel_id":1001,"rule_id":"$all"}`},
		{Path: path + "/update", Body: `{"rule_id":"$last",` + body(some)[1:], Data: `{}`},
	})
}

func TestTiming(t *testing.T) {
	t.Parallel()
	times := int64(2)
	step := 0.5
	window := int64(15)
	force := true
	r := channel.EscalateRule{AggrWindow: 30, Layers: []channel.Layer{{MaxTimes: &times, NotifyStep: &step, EscalateWindow: &window, ForceEscalate: &force}, {}}}
	want := escalationplan.Rule{Wait: 30, Layers: []escalationplan.Layer{{Times: 2, Every: 30, Window: 900, Force: true}, {Window: 1800}}}
	if got := r.Timing(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
