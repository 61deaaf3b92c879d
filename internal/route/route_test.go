package route_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/route"
)

func TestConversationRoute(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, route.Ops(), channel.Ops(keyring, route.RemoveChannel), (&integration.Service{Keyring: keyring}).Ops())
	s.Grant(auth.IntegrationsRead)
	critical := `{"if":[{"key":"severity","oper":"IN","vals":["Critical"]}],"channel_ids":[$b],"fallthrough":true}`
	byName := `{"if":[{"key":"labels.team","oper":"IN","vals":["*"]}],"channel_ids":[],"fallthrough":false,"routing_mode":"name_mapping","name_mapping_label":"team"}`
	body := `"integration_id":$i,"cases":[` + critical + `,` + byName + `],"sections":[{"name":"Loud","position":0}],"default":{"channel_ids":[$a]}`
	stamps := `,"status":"enabled","version":%d,"updated_by":2476123212131,"creator_id":2476123212131,"created_at":1776052801,"updated_at":1776052801`
	refused := func(body string, parts ...string) apitest.Turn {
		return apitest.Turn{Path: "/route/upsert", Body: `{"integration_id":$i,` + body + `}`, Code: "InvalidParameter", Says: parts}
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"A"}`, Keep: map[string]string{"a": "channel_id"}},
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"B"}`, Keep: map[string]string{"b": "channel_id"}},
		{Path: "/integration/create", Body: `{"integration_name":"x","integration_type":"standard"}`, Keep: map[string]string{"i": "integration_id"}},
		{Path: "/route/info", Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
		{Path: "/route/upsert", Body: `{"integration_id":5,"default":{"channel_ids":[$a]}}`, Code: "ResourceNotFound"},
		refused(`"cases":[]`, "cases", "default"),
		refused(`"cases":[{"if":[],"channel_ids":[$a],"fallthrough":false}]`, "cases[0].if"),
		refused(`"cases":[{"if":[{"key":"a","oper":"IN","vals":["/(/"]}],"channel_ids":[$a],"fallthrough":false}]`, "cases[0].if[0].vals[0]"),
		refused(`"cases":[{"if":[{"key":"a","oper":"IN","vals":["b"]}],"channel_ids":[],"fallthrough":false}]`, "cases[0].channel_ids"),
		refused(`"cases":[{"if":[{"key":"a","oper":"IN","vals":["b"]}],"channel_ids":[],"fallthrough":false,"routing_mode":"name_mapping"}]`, "name_mapping_label"),
		refused(`"default":{"channel_ids":[$a,7]}`, "default.channel_ids[1]", "channel 7"),
		refused(`"default":{"channel_ids":[$a]},"sections":[{"name":"x","position":1}]`, "sections[0].position"),
		{Path: "/route/upsert", Body: `{"integration_id":$i,"default":{"channel_ids":[$a]}}`, Data: `{}`, Golden: "route_upsert"},
		{Path: "/route/upsert", Body: `{` + body + `,"version":1}`, Data: `{}`},
		{Path: "/route/upsert", Body: `{` + body + `,"version":1}`, Code: "BadRequest", Says: []string{"version 2"}},
		{Path: "/route/info", Body: `{"integration_id":$i}`, Data: `{` + body + fmt.Sprintf(stamps, 2) + `}`, Golden: "route_info"},
		{Path: "/route/list", Body: `{"integration_ids":[$i,5,$i]}`, Data: `{"items":[{` + body + fmt.Sprintf(stamps, 2) + `}]}`, Golden: "route_list"},
		{Path: "/route/history/list", Body: `{"integration_id":$i}`, Has: `{"total":2,"items":[{"version":2},{"version":1,"cases":[]}]}`, Golden: "route_history_list"},
		{Path: "/route/history/list", Body: `{"integration_id":$i,"asc":true,"limit":1}`, Has: `{"has_next_page":true,"items":[{"version":1}]}`},
		{Path: "/route/info", Key: apitest.KeyB, Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
		{Path: "/route/upsert", Key: apitest.KeyReader, Body: `{` + body + `}`, Code: "AccessDenied"},
		{Path: "/channel/disable", Body: `{"channel_id":$b}`},
		{Path: "/channel/delete", Body: `{"channel_id":$b,"dry_run":true}`, Has: `{"allowed":true,"warnings":["route of integration $i: cases[0] is deleted, because it names no other channel; its alerts go to the next cases that they meet, then to the default"]}`},
		{Path: "/integration/delete", Body: `{"integration_id":$i,"dry_run":true}`, Has: `{"removes":[{"kind":"integration"},{"kind":"route","id":"$i"}]}`},
		{Path: "/integration/delete", Body: `{"integration_id":$i}`, Data: `{}`},
		{Path: "/route/info", Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
		{Path: "/channel/delete", Body: `{"channel_id":$b}`, Data: `{}`},
	})
}

// What a client leaves out has its default, and comes back as it was written.
func TestRouteOfShortRequest(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, route.Ops(), channel.Ops(keyring), (&integration.Service{Keyring: keyring}).Ops())
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"A"}`, Keep: map[string]string{"a": "channel_id"}},
		{Path: "/integration/create", Body: `{"integration_name":"x","integration_type":"standard"}`, Keep: map[string]string{"i": "integration_id"}},
		{Path: "/route/upsert", Body: `{"integration_id":$i,"cases":[{"if":[{"key":"a","oper":"IN","vals":["b"]}],"channel_ids":[$a]},` +
			`{"if":[{"key":"a","oper":"IN","vals":["*"]}],"routing_mode":"name_mapping","name_mapping_label":"a"}],` +
			`"sections":[{"name":"Loud"}],"default":{}}`, Has: `{"warnings":["default: is not set, so alerts that meet no case reach no one"]}`},
		{Path: "/route/info", Body: `{"integration_id":$i}`, Has: `{"cases":[{"fallthrough":false,"channel_ids":[$a]},{"fallthrough":false,"channel_ids":[],"routing_mode":"name_mapping"}],` +
			`"sections":[{"name":"Loud","position":0}],"default":{}}`},
		{Path: "/route/upsert", Body: `{"integration_id":$i,"cases":[{"if":[{"key":"a","oper":"IN","vals":["b"]}]}]}`, Code: "InvalidParameter", Says: []string{"cases[0].channel_ids"}},
	})
}

// A channel that is deleted leaves the routes. Their history has a version with it and one without.
func TestDeletedChannelLeavesRoutes(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, route.Ops(), channel.Ops(keyring, route.RemoveChannel), (&integration.Service{Keyring: keyring}).Ops())
	on := func(label, channels, more string) string {
		return `{"if":[{"key":"` + label + `","oper":"IN","vals":["1"]}],"channel_ids":[` + channels + `],"fallthrough":false` + more + `}`
	}
	mapped := `,"routing_mode":"name_mapping","name_mapping_label":"team"`
	prefix := "route of integration $i: "
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"A"}`, Keep: map[string]string{"a": "channel_id"}},
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"B"}`, Keep: map[string]string{"b": "channel_id"}},
		{Path: "/integration/create", Body: `{"integration_name":"x","integration_type":"standard"}`, Keep: map[string]string{"i": "integration_id"}},
		{Path: "/integration/create", Body: `{"integration_name":"y","integration_type":"standard"}`, Keep: map[string]string{"j": "integration_id"}},
		{Path: "/route/upsert", Body: `{"integration_id":$i,"cases":[` + on("c0", "$b", "") + `,` + on("c1", "$b,$a", "") + `,` + on("c2", "$b", mapped) + `,` + on("c3", "$a", "") + `],` +
			`"sections":[{"name":"first","position":0},{"name":"second","position":1},{"name":"end","position":4}],"default":{"channel_ids":[$b]}}`},
		{Path: "/route/upsert", Body: `{"integration_id":$j,"cases":[` + on("only", "$b", "") + `]}`},
		{Path: "/channel/disable", Body: `{"channel_id":$b}`},
		{Path: "/integration/update", Body: `{"integration_id":$j,"channel_id":$b}`},
		{Path: "/channel/delete", Body: `{"channel_id":$b,"dry_run":true}`, Has: `{"allowed":false,"refs":[{"kind":"integration","id":"$j"}]}`},
		{Path: "/integration/update", Body: `{"integration_id":$j,"channel_id":0}`},
		{Path: "/channel/delete", Body: `{"channel_id":$b}`, Data: `{"warnings":["` + prefix +
			`cases[0] is deleted, because it names no other channel; its alerts go to the next cases that they meet, then to the default","` + prefix +
			`cases[1] no longer names the channel","` + prefix + `cases[2] no longer names the channel","` + prefix +
			`default names no channel any more; alerts that no case sends anywhere reach only the account's fallback",` +
			`"route of integration $j: cases[0] is deleted, because it names no other channel; its alerts go to the next cases that they meet, then to the default",` +
			`"route of integration $j: default names no channel any more; alerts that no case sends anywhere reach only the account's fallback"]}`},
		{Path: "/route/info", Body: `{"integration_id":$i}`, Has: `{"version":2,"cases":[` + on("c1", "$a", "") + `,` + on("c2", "", mapped) + `,` + on("c3", "$a", "") + `],` +
			`"sections":[{"name":"first","position":0},{"name":"second","position":0},{"name":"end","position":3}],"default":{}}`},
		{Path: "/route/info", Body: `{"integration_id":$j}`, Has: `{"version":2,"cases":[],"default":{}}`},
		{Path: "/route/history/list", Body: `{"integration_id":$i}`, Has: `{"total":2,"items":[{"version":2},{"version":1,"default":{"channel_ids":[$b]}}]}`},
	})
}

// A route of an account file has a history from the beginning: the version in use, and after a change the one before.
func TestHistoryHasRouteOfAccountFile(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, route.Ops(), channel.Ops(keyring), (&integration.Service{Keyring: keyring}).Ops())
	loaded := route.Route{IntegrationID: 51, Default: &route.Default{ChannelIDs: []int64{41}}, UpdatedBy: apitest.OwnerA, UpdatedAt: 5}
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 41, ChannelName: "Shop"}}); err != nil {
			return err
		}
		if err := integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{{IntegrationID: 51, IntegrationName: "x", IntegrationType: "standard"}}); err != nil {
			return err
		}
		return route.Kind.Load(tx, keyring, apitest.AccountA, []route.Route{loaded})
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"A"}`, Keep: map[string]string{"a": "channel_id"}},
		{Path: "/route/history/list", Body: `{"integration_id":51}`, Has: `{"total":1,"items":[{"version":1,"updated_at":5}]}`},
		{Path: "/route/upsert", Body: `{"integration_id":51,"default":{"channel_ids":[$a]}}`, Data: `{}`},
		{Path: "/route/history/list", Body: `{"integration_id":51}`, Has: `{"total":2,"items":[{"version":2,"default":{"channel_ids":[$a]}},{"version":1,"updated_at":5}]}`},
		{Path: "/route/history/list", Body: `{"integration_id":51,"asc":true,"limit":1}`, Has: `{"has_next_page":true,"items":[{"version":1}]}`},
	})
}

// The warnings of a deletion name no case of a route that the caller may not read.
func TestDeletedChannelHidesPrivateRoutes(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, route.Ops(), channel.Ops(keyring, route.RemoveChannel), (&integration.Service{Keyring: keyring}).Ops())
	s.Grant(auth.ChannelsManage)
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"A","is_private":true}`, Keep: map[string]string{"a": "channel_id"}},
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"B"}`, Keep: map[string]string{"b": "channel_id"}},
		{Path: "/integration/create", Body: `{"integration_name":"x","integration_type":"standard"}`, Keep: map[string]string{"i": "integration_id"}},
		{Path: "/route/upsert", Body: `{"integration_id":$i,"cases":[{"if":[{"key":"a","oper":"IN","vals":["secret"]}],"channel_ids":[$b]}],"default":{"channel_ids":[$a]}}`},
		{Path: "/channel/disable", Key: apitest.KeyReader, Body: `{"channel_id":$b}`},
		{Path: "/channel/delete", Key: apitest.KeyReader, Body: `{"channel_id":$b}`, Data: `{"warnings":["route of integration $i: no longer names the channel; ` +
			`alerts that went only there go to its next cases, then to its default"]}`},
		{Path: "/route/info", Body: `{"integration_id":$i}`, Has: `{"version":2,"cases":[],"default":{"channel_ids":[$a]}}`},
	})
}

func TestPreview(t *testing.T) {
	s := apitest.Start(t, route.Ops(), channel.Ops(apitest.Box(t)))
	for id, labels := range map[string]string{"663a1b2c3d4e5f6789abcde1": `{"team":"A"}`, "663a1b2c3d4e5f6789abcde2": `{"env":"test"}`} {
		s.Exec(`INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id, alert_key, title, title_rule, description,
			alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted, responder_name, responder_email, labels, images, created_at, updated_at, deleted_at)
			VALUES ($1, $2, 0, '', 1, '', '', '', 'k', 'Title', '', '', 'Critical', 'Critical', 7, 7, 0, 1, FALSE, '', '', $3, '[]', 1, 1, 0)`, apitest.AccountA, id, labels)
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"A"}`, Keep: map[string]string{"a": "channel_id"}},
		{Path: "/route/preview", Body: `{"alert_ids":["663a1b2c3d4e5f6789abcde1","663a1b2c3d4e5f6789abcde9","663a1b2c3d4e5f6789abcde2"],"route":{
			"cases":[{"if":[{"key":"labels.team","oper":"IN","vals":["*"]}],"channel_ids":[],"fallthrough":false,"routing_mode":"name_mapping","name_mapping_label":"team"}],"default":{"channel_ids":[9]}}}`,
			Golden: "route_preview", Data: `{"items":[
			{"alert_id":"663a1b2c3d4e5f6789abcde1","alert_title":"Title","alert_headline":"Title","start_time":7,"matched_cases":["case_0"],"channel_ids":[$a],"reasons":["case_0: labels.team is \"A\", IN *; the label team is \"A\", the name of 1 channels"]},
			{"alert_id":"663a1b2c3d4e5f6789abcde2","alert_title":"Title","alert_headline":"Title","start_time":7,"matched_cases":["default"],"channel_ids":[9],"reasons":["case_0: labels.team is not there, not IN *","default: no case sends it anywhere"]}]}`},
		{Path: "/route/preview", Key: apitest.KeyB, Body: `{"alert_ids":["663a1b2c3d4e5f6789abcde1"],"route":{"default":{"channel_ids":[9]}}}`, Data: `{"items":[]}`},
	})
}

// labelled is an alert that has only labels.
type labelled map[string]string

func (l labelled) Field(string) (string, bool)      { return "", false }
func (l labelled) Label(name string) (string, bool) { v, ok := l[name]; return v, ok }

// TestMatchAgainstModel compares Match with a model that evaluates the cases one by one.
func TestMatchAgainstModel(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		alert, rt := labelled{}, route.Route{}
		for _, name := range []string{"a", "b"} {
			if r.IntN(3) > 0 {
				alert[name] = fmt.Sprint(r.IntN(2))
			}
		}
		for range r.IntN(5) {
			c := route.Case{Fallthrough: r.IntN(2) == 0, ChannelIDs: []int64{r.Int64N(4)}}
			for range 1 + r.IntN(2) {
				c.If = append(c.If, filter.Condition{Key: "labels." + []string{"a", "b"}[r.IntN(2)], Oper: filter.In, Vals: []string{fmt.Sprint(r.IntN(2))}})
			}
			rt.Cases = append(rt.Cases, c)
		}
		if r.IntN(2) == 0 {
			rt.Default = &route.Default{ChannelIDs: []int64{9}}
		}
		var want []int64
		for _, c := range rt.Cases {
			met := true
			for _, cond := range c.If {
				v, ok := alert[cond.Key[len("labels."):]]
				met = met && ok && v == cond.Vals[0]
			}
			if met {
				if !slices.Contains(want, c.ChannelIDs[0]) {
					want = append(want, c.ChannelIDs[0])
				}
				if !c.Fallthrough {
					break
				}
			}
		}
		if want == nil && rt.Default != nil {
			want = []int64{9}
		}
		got, results := route.Compile(rt).Match(nil, alert, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v: %+v %v %+v", seed, got, want, rt, alert, results)
		}
		for _, l := range results {
			if l.Why == "" {
				t.Fatalf("seed %d: no reason: %+v", seed, results)
			}
		}
	}
}

func TestRoutesOfFile(t *testing.T) {
	apitest.RoundTrip(t, route.Kind, []route.Route{
		{IntegrationID: 11, Cases: []route.Case{}, Default: &route.Default{ChannelIDs: []int64{1}}, Status: "enabled", Version: 3},
	}, map[string]func(*route.Route){
		"integration_id": func(r *route.Route) { r.IntegrationID = 0 },
		"cases":          func(r *route.Route) { r.Default = nil },
	})
}

// A route that lets alerts reach no one, or a condition that is never met, is named when it is stored.
func TestRouteWarns(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, route.Ops(), channel.Ops(keyring), (&integration.Service{Keyring: keyring}).Ops())
	lower := `"cases":[{"if":[{"key":"severity","oper":"IN","vals":["critical"]}],"channel_ids":[$a],"fallthrough":false}]`
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"A"}`, Keep: map[string]string{"a": "channel_id"}},
		{Path: "/integration/create", Body: `{"integration_name":"x","integration_type":"standard"}`, Keep: map[string]string{"i": "integration_id"}},
		{Path: "/route/upsert", Body: `{"integration_id":$i,` + lower + `}`, Data: `{"warnings":["default: is not set, so alerts that meet no case reach no one",` +
			`"cases[0].if: never matches, no severity meets all conditions on it",` +
			`"cases[0].if[0].vals[0]: severity is never \"critical\", it is one of Critical, Warning, Info, Ok"]}`},
		{Path: "/route/upsert", Body: `{"integration_id":$i,"default":{"channel_ids":[$a]}}`, Data: `{}`},
	})
}
