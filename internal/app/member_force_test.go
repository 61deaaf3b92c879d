package app_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
)

// crew is a world with a schedule of two turns, a rule and the account's fallback, all of which name a person who leaves.
type crew struct {
	world
	leaver, other, schedule, rule string
}

func newCrew(t *testing.T) crew {
	t.Helper()
	w := newWorld(t)
	leaver, _ := w.person(w.keys[0], "leaver", "read")
	other, _ := w.person(w.keys[0], "stays", "read")
	c := crew{world: w, leaver: leaver, other: other}
	group := func(persons ...string) string {
		return `{"group_name":"G","members":[{"role_id":0,"person_ids":[` + strings.Join(persons, ",") + `]}]}`
	}
	layer := func(name, more string, groups ...string) string {
		return `{"layer_name":"` + name + `","layer_start":1776009600,"rotation_unit":"day","rotation_value":1,"groups":[` + strings.Join(groups, ",") + `]` + more + `}`
	}
	c.schedule = w.must(w.keys[0], "/schedule/create", `{"schedule_name":"Nights","layers":[`+layer("Main", "", group(leaver, other), group(other))+","+
		layer("Past", `,"layer_end":1776096000`, group(leaver))+`]}`, "schedule_id")
	c.rule = w.must(w.keys[0], "/channel/escalate/rule/create", `{"channel_id":`+w.names["public"]+`,"rule_name":"Page","template_id":"000000000000000000000001","layers":[
		{"target":{"person_ids":[`+leaver+`,`+other+`],"by":{"follow_preference":true}}}]}`, "rule_id")
	w.must(w.keys[0], "/account/fallback/update", `{"person_ids":[`+leaver+`]}`, "person_ids")
	return c
}

func (c crew) delete(more string) (raw, code string) {
	c.t.Helper()
	return c.call(c.keys[0], "/member/delete", `{"member_id":`+c.leaver+more+`}`)
}

// TestForcedDeletionRemovesPersonEverywhere deletes a person whom a schedule, a rule, a team, an override and the fallback name.
func TestForcedDeletionRemovesPersonEverywhere(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	now := c.app.Clock.Now().Unix()
	override := c.must(c.keys[0], "/schedule/override/create", fmt.Sprintf(`{"schedule_id":%s,"person_id":%s,"by":%s,"start":%d,"end":%d}`, c.schedule, c.other, c.leaver, now+3600, now+7200), "override_id")
	c.must(c.keys[0], "/team/upsert", `{"team_name":"Crew","person_ids":[`+c.leaver+`,`+c.other+`]}`, "team_id")
	if raw, code := c.delete(""); code != "ReferenceExist" {
		t.Errorf("without is_force: %s", raw)
	}
	if raw, code := c.delete(`,"dry_run":true`); code != "" || !strings.Contains(raw, `"allowed":false`) {
		t.Errorf("a dry run without is_force: %s", raw)
	}
	plan, code := c.delete(`,"is_force":true,"dry_run":true`)
	for _, want := range []string{`"allowed":true`, `{"kind":"schedule_override","id":"` + override, `"changes":[{"kind":"schedule","id":"` + c.schedule + `","name":"Nights"},{"kind":"escalate_rule","id":"` + c.rule + `","name":"Page"},{"kind":"fallback"`} {
		if code != "" || !strings.Contains(plan, want) {
			t.Errorf("the dry run lacks %s: %s", want, plan)
		}
	}
	if raw, _ := c.call(c.keys[0], "/schedule/info", `{"schedule_id":`+c.schedule+`}`); !strings.Contains(raw, c.leaver) {
		t.Errorf("the dry run changed the schedule: %s", raw)
	}
	if raw, code := c.delete(`,"is_force":true`); code != "" {
		t.Fatalf("%s", raw)
	}
	for path, body := range map[string]string{
		"/schedule/info": `{"schedule_id":` + c.schedule + `}`, "/channel/escalate/rule/list": `{"channel_id":` + c.names["public"] + `}`, "/account/fallback/info": `{}`,
		"/team/list": `{}`, "/schedule/override/list": `{"schedule_ids":[` + c.schedule + `]}`, "/schedule/by-person": fmt.Sprintf(`{"person_ids":[%s],"start":%d,"end":%d}`, c.other, now, now+86400),
	} {
		if raw, code := c.call(c.keys[0], path, body); code != "" || strings.Contains(raw, c.leaver) {
			t.Errorf("%s names the person still: %s", path, raw)
		}
	}
	raw, _ := c.call(c.keys[0], "/audit/search", fmt.Sprintf(`{"start_time":%d,"end_time":%d,"operations":["member:write:delete"]}`, now-60, now+60))
	for _, object := range []string{"Nights", "Page", "leaver"} {
		if !strings.Contains(raw, object) {
			t.Errorf("the audit log does not name %s: %s", object, raw)
		}
	}
	if err := c.app.DB.Snapshot(t.Context(), func(tx *db.Tx) error {
		to, err := db.All(tx, db.Column[int64], `SELECT DISTINCT person_id FROM notice WHERE account_id = $1 AND event = 'override_end' ORDER BY person_id`, c.account)
		if fmt.Sprint(to) != "["+c.other+"]" {
			t.Errorf("the end of the override notifies %v, want %s alone", to, c.other)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestForcedDeletionLeavesNoTurnAndNoStepEmpty tries to delete a person who is alone in a turn, in a step, or in a team that is.
func TestForcedDeletionLeavesNoTurnAndNoStepEmpty(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		path, body string
		says       string
	}{
		"turn": {"/schedule/create", `{"schedule_name":"Alone","layers":[{"layer_name":"L","layer_start":1776009600,"rotation_unit":"day","rotation_value":1,
			"groups":[{"members":[{"role_id":0,"person_ids":[$other]}]},{"members":[{"role_id":0,"person_ids":[$leaver]}]}]}]}`, "turn 2"},
		"role": {"/schedule/create", `{"schedule_name":"Alone","layers":[{"layer_name":"L","layer_start":1776009600,"rotation_unit":"day","rotation_value":1,
			"groups":[{"members":[{"role_id":0,"person_ids":[$other]},{"role_id":1,"person_ids":[$leaver]}]}]}]}`, "a role of turn 1"},
		"step":        {"/channel/escalate/rule/create", `{"channel_id":$public,"rule_name":"Alone",$template,"layers":[{"target":{"person_ids":[$leaver],"emails":["a@example.com"],"by":{"follow_preference":true}}}]}`, "layers[0].target"},
		"person else": {"/channel/escalate/rule/create", `{"channel_id":$public,"rule_name":"Alone",$template,"layers":[{"target":{"person_ids":[$other],"by":{"follow_preference":true}},"on_nobody":{"then":"fallback","person_id":$leaver}}]}`, "layers[0].on_nobody"},
		"team":        {"/channel/escalate/rule/create", `{"channel_id":$public,"rule_name":"Alone",$template,"layers":[{"target":{"team_ids":[$crew],"by":{"follow_preference":true}}}]}`, "layers[0].target"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrew(t)
			crewID := c.must(c.keys[0], "/team/upsert", `{"team_name":"Crew","person_ids":[`+c.leaver+`]}`, "team_id")
			names := map[string]string{"leaver": c.leaver, "other": c.other, "public": c.names["public"], "crew": crewID, "template": `"template_id":"000000000000000000000001"`}
			if raw, code := c.call(c.keys[0], change.path, fill(change.body, names)); code != "" {
				t.Fatalf("%s", raw)
			}
			raw, code := c.delete(`,"is_force":true`)
			if code != "BadRequest" || !strings.Contains(raw, change.says) || !strings.Contains(raw, "name another person there first") {
				t.Errorf("%s", raw)
			}
			if raw, _ := c.delete(`,"is_force":true,"dry_run":true`); !strings.Contains(raw, `"allowed":false`) || !strings.Contains(raw, change.says) {
				t.Errorf("a dry run: %s", raw)
			}
			if raw, _ := c.call(c.keys[0], "/schedule/info", `{"schedule_id":`+c.schedule+`}`); !strings.Contains(raw, c.leaver) {
				t.Errorf("the refused call changed the schedule: %s", raw)
			}
		})
	}
}

// TestForcedDeletionNeedsPermissionsOfItsChanges deletes with a key that manages members alone.
func TestForcedDeletionNeedsPermissionsOfItsChanges(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	for permission, lacks := range map[string]string{
		"": "Schedules Manage", `,"Schedules Manage (on-call)"`: "Channels Manage",
	} {
		key := c.must(c.keys[0], "/person/app-key/create", `{"key_name":"n","permissions":["Members Manage (org)"`+permission+`]}`, "key")
		if raw, code := c.call(key, "/member/delete", `{"member_id":`+c.leaver+`,"is_force":true}`); code != "AccessDenied" || !strings.Contains(raw, lacks) {
			t.Errorf("%q: %s", permission, raw)
		}
	}
}
