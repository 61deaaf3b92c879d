package story

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/core/lint"
	"tocsin/internal/querier"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/gateway"
)

// sound is an account file section that makes the world's configuration sound.
var sound = fmt.Sprintf(`{
	"escalate_rules": [
		{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": %d, "rule_name": "on call", "template_id": "000000000000000000000001", "layers": [%s]},
		{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e02", "channel_id": %d, "rule_name": "mail", "template_id": "000000000000000000000001", "layers": [%s]}
	],
	"routes": [{"integration_id": %d, "cases": [], "default": {"channel_ids": [%d]}}],
	"fallbacks": [{"person_ids": [%d]}]
}`, shop, layer(persons(ann)), mail, layer(persons(bob)), shared, mail, olga)

// calling is an operation with its body; $id is replaced by the id that the call before returned.
type calling struct{ path, body string }

// ruled changes the rule of the shop: its layers, and members beside them.
func ruled(layers string, more ...string) calling {
	body := fmt.Sprintf(`{"channel_id": %d, "rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "rule_name": "on call", "template_id": "000000000000000000000001", "layers": [%s]`, shop, layers)
	if len(more) == 0 {
		more = []string{`"filters": []`, `"time_filters": []`}
	}
	return calling{"/channel/escalate/rule/update", body + ", " + strings.Join(more, ", ") + "}"}
}

// when is a filter of one condition.
func when(key, vals string) string {
	return fmt.Sprintf(`"filters": [[{"key": %q, "oper": "IN", "vals": [%s]}]]`, key, vals)
}

// muting creates a rule that keeps alerts from becoming incidents, and disables it.
func muting(kind, more string) (calling, calling) {
	return calling{"/channel/" + kind + "/rule/create", fmt.Sprintf(`{"channel_id": %d, "rule_name": "quiet", %s}`, shop, more)},
		calling{"/channel/" + kind + "/rule/disable", fmt.Sprintf(`{"channel_id": %d, "rule_id": "$id"}`, shop)}
}

// Every code appears when the configuration is broken, with its severity, object and words, and vanishes when it is fixed.
func TestEveryProblemIsFoundAndVanishes(t *testing.T) {
	t.Parallel()
	type pair struct{ broken, fixed calling }
	of := func(broken, fixed calling) pair { return pair{broken, fixed} }
	at := start.Unix()
	usual := ruled(layer(persons(ann)))
	rule := func(layers string, more ...string) pair { return pair{ruled(layers, more...), usual} }
	one := fmt.Sprintf(`{"channel_id": %d, "rule_id": "5e5e5e5e5e5e5e5e5e5e5e01"}`, shop)
	for code, c := range map[lint.Code]pair{
		lint.SourceWithoutTarget: {calling{"/integration/create", `{"integration_name": "New", "integration_type": "standard"}`}, calling{"/integration/delete", `{"integration_id": $id}`}},
		lint.RouteWithoutDefault: {
			calling{"/route/upsert", fmt.Sprintf(`{"integration_id": %d, "cases": [{"if": [{"key": "labels.a", "oper": "IN", "vals": ["b"]}], "channel_ids": [%d], "fallthrough": false}]}`, shared, shop)},
			calling{"/route/upsert", fmt.Sprintf(`{"integration_id": %d, "default": {"channel_ids": [%d]}}`, shared, shop)},
		},
		lint.ChannelWithoutRule:  {calling{"/channel/escalate/rule/disable", one}, calling{"/channel/escalate/rule/enable", one}},
		lint.SeverityUncovered:   rule(layer(persons(ann)), when("severity", `"Critical", "Info"`)),
		lint.RulePagesNoOne:      rule(layer(persons(dee))),
		lint.DropsEverything:     of(muting("unsubscribe", when("title", `"*"`))),
		lint.SilencesEverything:  of(muting("silence", when("title", `"*"`)+fmt.Sprintf(`, "time_filter": {"start_time": %d, "end_time": %d}`, at, at+3600))),
		lint.ConditionsUncovered: rule(layer(persons(ann)), when("labels.env", `"prod"`)),
		lint.CoverUnproven:       rule(layer(persons(ann)), `"filters": [[{"key": "host", "oper": "IN", "vals": ["/^[a-m]/"]}], [{"key": "host", "oper": "NOTIN", "vals": ["/^[a-m]/"]}]]`),
		lint.HoursUncovered:      rule(layer(persons(ann)), `"time_filters": [{"start": "09:00", "end": "17:00"}]`),
		lint.StepWithoutPerson:   rule(layer(persons(ann) + ", " + teams(empty))),
		lint.OnCallGap:           rule(layer(persons(ann) + ", " + onCall(night))),
		lint.PersonUnreachable:   rule(layer(persons(ann, dee))),
		lint.ChatUnusable:        rule(layer(persons(ann) + `, "webhooks": [{"type": "slack", "settings": {}}]`)),
		lint.FilterNeverMatches: of(muting("unsubscribe",
			`"filters": [[{"key": "host", "oper": "IN", "vals": ["a"]}, {"key": "labels.host", "oper": "IN", "vals": ["b"]}]]`)),
		lint.ValueNeverOccurs:    of(muting("unsubscribe", when("severity", `"Info", "critical"`))),
		lint.LongSilence:         of(muting("silence", when("labels.host", `"a"`)+fmt.Sprintf(`, "time_filter": {"start_time": %d, "end_time": %d}`, at, at+31*86400))),
		lint.QuietHoldsCritical:  {calling{"/preference/update", `{"quiet_hours": [{"start": "22:00", "end": "07:00", "but": ["Info"]}]}`}, calling{"/preference/update", `{"quiet_hours": []}`}},
		lint.FallbackNotSet:      {calling{"/account/fallback/update", `{}`}, calling{"/account/fallback/update", fmt.Sprintf(`{"person_ids": [%d]}`, olga)}},
		lint.FallbackUnreachable: {calling{"/account/fallback/update", fmt.Sprintf(`{"team_ids": [%d]}`, empty)}, calling{"/account/fallback/update", fmt.Sprintf(`{"person_ids": [%d]}`, olga)}},
		lint.ChannelDisabled:     {calling{"/channel/disable", fmt.Sprintf(`{"channel_id": %d}`, mail)}, calling{"/channel/enable", fmt.Sprintf(`{"channel_id": %d}`, mail)}},
	} {
		t.Run(string(code), func(t *testing.T) {
			w := begin(t, sound)
			w.lints()
			made := w.do(c.broken.path, "%s", c.broken.body)
			w.finds(code)
			id := made.get("rule_id") + made.get("integration_id")
			w.do(c.fixed.path, "%s", strings.ReplaceAll(c.fixed.body, "$id", id))
			w.lints()
		})
	}
}

// Every code about alert rules appears when a rule is broken, and vanishes when it is fixed.
func TestEveryProblemOfAlertRulesIsFoundAndVanishes(t *testing.T) {
	t.Parallel()
	w, _ := beginMeter(t, sound)
	before := w.change
	w.change = func(c *app.Config) { before(c); c.SecretEnv = querier.SecretEnv{} }
	w.restart()
	rule := func(more string) string {
		return w.do("/monit/rule/create", `{"name": "CPU", "cron_pattern": "@every 15s", "rule_configs": %s, %s}`, hot, more).get("id")
	}
	const prometheus = `"ds_type": "prometheus", "ds_list": ["prometheus*"]`
	here := fmt.Sprintf(`, "channel_ids": [%d]`, shop)
	id := rule(prometheus + here)
	w.lints()
	w.pass(10 * time.Minute)
	w.lints(lint.RuleNeverHadRow)
	w.do("/monit/rule/delete", `{"id": %s}`, id)
	for code, more := range map[lint.Code]string{
		lint.RuleWithoutChannel: prometheus,
		lint.RuleMatchesNothing: `"ds_type": "loki", "ds_list": ["*"]` + here,
	} {
		id := rule(more)
		w.lints(code)
		w.do("/monit/rule/delete", `{"id": %s}`, id)
		w.lints()
	}
	id = rule(prometheus + here)
	w.do("/monit/rule/update", `{"id": %s, "name": "CPU", "cron_pattern": "@every 15s", %s%s, "rule_configs": %s}`, id, prometheus, here,
		strings.Replace(hot, `"enabled": true`, `"enabled": true, "push_recovery_event": false`, 1))
	w.lints(lint.RuleEndsSilently)
	w.do("/monit/rule/delete", `{"id": %s}`, id)
	ds := func(kind, name, address, payload string) string {
		return w.do("/monit/datasource/create", `{"type_ident": %q, "name": %q, "address": %q, "edge_cluster_name": "default", "payload": {%q: %s}}`, kind, name, address, kind, payload).get("id")
	}
	second := ds("prometheus", "prometheus-fra", "http://127.0.0.1:1", `{"basic_auth_password": "${env:SECRET_OF_TEST}"}`)
	id = rule(prometheus + here)
	w.lints(lint.DatasourceNameTwice, lint.SecretNotAllowed)
	w.do("/monit/rule/delete", `{"id": %s}`, id)
	w.do("/monit/datasource/delete", `{"id": %s}`, second)
	away := w.do("/monit/datasource/create", `{"type_ident": "prometheus", "name": "far", "address": "http://127.0.0.1:1", "edge_cluster_name": "far", "payload": {"prometheus": {"basic_auth_password": "${env:SECRET_OF_TEST}"}}}`).get("id")
	w.lints() // no rule asks it
	id = rule(`"ds_type": "prometheus", "ds_list": ["far"]` + here)
	w.lints(lint.SourceWithoutEdge)
	w.do("/monit/rule/delete", `{"id": %s}`, id)
	w.do("/monit/datasource/delete", `{"id": %s}`, away)
	ds("sls", "logs", "127.0.0.1:1", `{}`)
	id = rule(`"ds_type": "sls", "ds_list": ["logs"]` + here)
	w.lints(lint.DelayZeroOnLogs)
	w.do("/monit/rule/delete", `{"id": %s}`, id)
	w.lints()
}

// What the server cannot send is a problem of every account on it.
func TestWhatServerCannotSendIsFound(t *testing.T) {
	t.Parallel()
	texts := strings.Replace(sound, `"follow_preference": true`, `"critical": ["sms", "email"]`, 1)
	w := beginWith(t, func(c *app.Config) { c.Senders.Gateway = gateway.Gateway{} }, texts)
	w.finds(lint.MethodNotSendable)
	w.change = func(c *app.Config) { c.Senders.Gateway, c.Senders.Mail = gateway.Gateway{}, email.Server{} }
	w.restart()
	w.finds(lint.ServerSendsNothing)
	w.finds(lint.OwnerUnreachable)
	w.change = func(*app.Config) {}
	w.restart()
	w.lints()
}

// A caller sees no finding about what they may not read.
func TestFindingsKeepPrivateChannelsPrivate(t *testing.T) {
	t.Parallel()
	w := begin(t, sound)
	w.do("/channel/create", `{"team_id": 0, "channel_name": "Hidden", "is_private": true}`)
	w.want(w.do("/lint/list", `{}`), "total", "1")
	if r := w.as(annKey, "/lint/list", `{}`); r.get("total") != "0" || strings.Contains(r.String(), "Hidden") {
		t.Errorf("a person who may not read the channel sees %s", r)
	}
}

// lints wants exactly these codes from /lint/list.
func (w *world) lints(want ...lint.Code) {
	w.t.Helper()
	if got := w.findings(); fmt.Sprint(codes(got)) != fmt.Sprint(want) {
		w.t.Errorf("the codes are %v, want %v: %v", codes(got), want, got)
	}
}

// finds wants a code among the findings, with everything that it needs.
func (w *world) finds(code lint.Code) {
	w.t.Helper()
	for _, f := range w.findings() {
		if f.Code == code && f.Severity != "" && f.Object.Kind != "" && f.Object.ID != "" && f.Object.Name != "" && f.Sentence != "" && f.Fix != "" {
			return
		}
	}
	w.t.Errorf("%s is not found: %+v", code, w.findings())
}

func (w *world) findings() (list []lint.Finding) {
	w.t.Helper()
	w.must(json.Unmarshal([]byte(w.do("/lint/list", `{}`).get("items")), &list))
	return list
}

func codes(list []lint.Finding) (all []lint.Code) {
	for _, f := range list {
		all = append(all, f.Code)
	}
	return all
}
