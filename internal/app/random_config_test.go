package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"

	"tocsin/internal/accountfile"
	"tocsin/internal/api/apitest"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db/dbtest"
)

// Calls that change configuration. $kind is replaced by the id of an object that may exist, and ~ by a word. The ids in
// replies are remembered for later calls.
var changes = []struct{ path, body string }{
	{"/team/upsert", `{"team_name":"~","person_ids":[$person_id,$person_id]}`},
	{"/team/upsert", `{"team_id":$team_id,"team_name":"~","description":"~"}`},
	{"/team/delete", `{"team_id":$team_id}`},
	{"/role/upsert", `{"role_name":"~","permission_ids":[7,3]}`},
	{"/role/disable", `{"role_id":$role_id}`},
	{"/role/delete", `{"role_id":$role_id}`},
	{"/role/member/grant", `{"role_id":$role_id,"member_ids":[$person_id]}`},
	{"/member/invite", `{"members":[{"member_name":"~~","email":"~@example.com","role_ids":[$role_id]}]}`},
	{"/member/invite", `{"members":[{"member_name":"~~","phone":"+49~"}]}`},
	{"/member/info/reset", `{"member_id":$person_id,"time_zone":"Europe/Berlin"}`},
	{"/member/delete", `{"member_id":$person_id}`},
	{"/calendar/create", `{"cal_name":"~","workdays":[5,1],"team_id":$team_id}`},
	{"/calendar/update", `{"cal_id":"$cal_id","description":"~"}`},
	{"/calendar/event/upsert", `{"cal_id":"$cal_id","summary":"~","start_at":"2026-05-01","end_at":"2026-05-03","is_off":true}`},
	{"/calendar/delete", `{"cal_id":"$cal_id"}`},
	{"/schedule/create", `{"schedule_name":"~","team_id":$team_id,"layers":[{"mode":0,"layer_start":1776009600,"rotation_unit":"day","rotation_value":1,"groups":[{"members":[{"role_id":0,"person_ids":[$person_id]}]}]}],"notify":{"webhooks":[{"type":"slack","settings":{"token":"secret-~","alias":"a"}}]}}`},
	{"/schedule/update", `{"schedule_id":$schedule_id,"description":"~"}`},
	{"/schedule/override/create", `{"schedule_id":$schedule_id,"person_id":$person_id,"by":$person_id,"start":$soon,"end":$later,"reason":"~"}`},
	{"/schedule/override/create", `{"schedule_id":$schedule_id,"role_id":0,"by":$person_id,"start":$soon,"end":$later,"reason":"~"}`},
	{"/schedule/override/update", `{"override_id":$override_id,"reason":"~"}`},
	{"/schedule/override/delete", `{"override_ids":[$override_id]}`},
	{"/person/absence/create", `{"person_id":$person_id,"start":$soon,"end":$later,"note":"~"}`},
	{"/person/absence/update", `{"absence_id":$absence_id,"note":"~"}`},
	{"/person/absence/delete", `{"absence_id":$absence_id}`},
	{"/schedule/delete", `{"schedule_ids":[$schedule_id]}`},
	{"/template/create", `{"template_name":"~","sms":"{{.Title}}","team_id":$team_id}`},
	{"/template/delete", `{"template_id":"$template_id"}`},
	{"/field/create", `{"field_name":"~","display_name":"~","field_type":"single_select","value_type":"string","options":["b","a"],"default_value":"a"}`},
	{"/field/delete", `{"field_id":"$field_id"}`},
	{"/channel/create", `{"team_id":$team_id,"channel_name":"~","is_private":true,"managing_team_ids":[$team_id],"group":{"method":"p","equals":[["labels.b","labels.a"]]}}`},
	{"/channel/create", `{"team_id":0,"channel_name":"~"}`},
	{"/channel/update", `{"channel_id":$channel_id,"flapping":{"max_changes":5},"description":"~"}`},
	{"/channel/disable", `{"channel_id":$channel_id}`},
	{"/channel/delete", `{"channel_id":$channel_id}`},
	{"/channel/silence/rule/create", `{"channel_id":$channel_id,"rule_name":"~","time_filters":[{"start":"22:00","end":"06:00","cal_id":"$cal_id"}],"filters":[[{"key":"labels.~","oper":"IN","vals":["/^a/","b*"]}]]}`},
	{"/channel/silence/rule/create", `{"channel_id":$channel_id,"rule_name":"~","time_filter":{"start_time":5,"end_time":9},"filters":[[{"key":"severity","oper":"NOTIN","vals":["Info"]}]]}`},
	{"/channel/silence/rule/disable", `{"channel_id":$channel_id,"rule_id":"$rule_id"}`},
	{"/channel/unsubscribe/rule/create", `{"channel_id":$channel_id,"rule_name":"~","filters":[[{"key":"a","oper":"IN","vals":["~"]}]]}`},
	{"/channel/unsubscribe/rule/delete", `{"channel_id":$channel_id,"rule_id":"$rule_id"}`},
	{"/channel/inhibit/rule/create", `{"channel_id":$channel_id,"rule_name":"~","equals":["labels.~"],"source_filters":[[{"key":"severity","oper":"IN","vals":["Critical"]}]]}`},
	{"/channel/escalate/rule/create", `{"channel_id":$channel_id,"rule_name":"~","template_id":"000000000000000000000001","layers":[{"max_times":1,"notify_step":2.5,"target":{"person_ids":[$person_id],"by":{"follow_preference":true},"webhooks":[{"type":"slack","settings":{"url":"https://example.com/~","n":1}}]}}]}`},
	{"/channel/escalate/rule/delete", `{"channel_id":$channel_id,"rule_id":"$rule_id"}`},
	{"/integration/create", `{"integration_name":"~","integration_type":"prometheus","channel_id":$channel_id}`},
	{"/integration/create", `{"integration_name":"~","integration_type":"standard"}`},
	{"/integration/create", `{"integration_name":"~","integration_type":"webhook_alert","settings":{"endpoint":"https://example.com/~","headers":{"A":"secret-~"}}}`},
	{"/integration/create", `{"integration_name":"~","integration_type":"slack_app","settings":{"app":{"token":"secret-~","private":"true"},"war_room_enabled":true}}`},
	{"/integration/create", `{"integration_name":"~","integration_type":"wecom_app","settings":{"app":{"corp_id":"c","secret":"secret-~","owner":"~"}}}`},
	{"/integration/key/rotate", `{"integration_id":$integration_id}`},
	{"/integration/secret/rotate", `{"integration_id":$integration_id,"grace_seconds":3600}`},
	{"/integration/disable", `{"integration_id":$integration_id}`},
	{"/integration/delete", `{"integration_id":$integration_id}`},
	{"/route/upsert", `{"integration_id":$integration_id,"cases":[{"if":[{"key":"labels.~","oper":"IN","vals":["b"]}],"channel_ids":[$channel_id],"fallthrough":true}],"default":{"channel_ids":[$channel_id]}}`},
	{"/alert/pipeline/upsert", `{"integration_id":$integration_id,"rules":[{"kind":"severity_reset","if":[[{"key":"labels.~","oper":"IN","vals":["b"]}]],"settings":{"severity":"Info"}}]}`},
	{"/enrichment/upsert", `{"integration_id":$integration_id,"rules":[{"kind":"drop","settings":{"drop_labels":["~"]}}]}`},
	{"/monit/datasource/create", `{"type_ident":"prometheus","name":"~","address":"https://example.com","edge_cluster_name":"default","payload":{"prometheus":{"basic_auth_password":"secret-~","headers":["A: secret-~"]}}}`},
	{"/monit/datasource/delete", `{"id":$id}`},
	{"/monit/folder/create", `{"folder_name":"~","team_id":$team_id}`},
	{"/monit/rule/create", `{"name":"~","ds_type":"loki","ds_list":["~*"],"cron_pattern":"*/5 * * * *","labels":{"a":"~"},"channel_ids":[$channel_id],"rule_configs":{"queries":[{"name":"A","expr":"~"}],"check_anydata":{"enabled":true,"severity":"Warning"}}}`},
	{"/rum/application/create", `{"application_name":"~","type":"browser","team_id":$team_id}`},
	{"/status-page/create", `{"name":"~","url_name":"~","team_id":$team_id,"sections":[{"section_id":"s","name":"~"}],"components":[{"component_id":"c","section_id":"s","name":"~"}]}`},
	{"/status-page/change/create", `{"page_id":$page_id,"type":"incident","title":"~","status":"investigating","updates":[{"description":"~","component_changes":[{"component_id":"c","status":"degraded"}]}]}`},
	{"/status-page/change/timeline/create", `{"page_id":$page_id,"change_id":$change_id,"status":"monitoring","description":"~"}`},
	{"/status-page/delete", `{"page_id":$page_id}`},
	{"/rum/application/token/rotate", `{"application_id":"$application_id"}`},
	{"/rum/application/delete", `{"application_id":"$application_id"}`},
}

// TestAnyConfigurationSurvivesItsFile makes random calls, exports the result, imports it into an empty database and
// expects the same export from there, with secrets and without. Applying the file to its own account must change
// nothing. TOCSIN_CONFIGURATIONS sets how many configurations it tries.
func TestAnyConfigurationSurvivesItsFile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_CONFIGURATIONS", 1)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			a, url, owner, _ := start(t)
			account := randomAccount(t, rand.New(rand.NewPCG(seed, 11)), url, owner)
			ctx := context.Background()
			if _, err := accountfile.Apply(ctx, a.DB, a.Keyring, export(t, a, account, false), clock.System.Now(), accountfile.Options{}); err != nil {
				t.Fatal(err)
			}
			for _, secrets := range []bool{true, false} {
				file := export(t, a, account, secrets)
				plan, err := accountfile.Apply(ctx, a.DB, a.Keyring, file, clock.System.Now(), accountfile.Options{Prune: true})
				if err != nil || !plan.Empty() {
					t.Errorf("applying it to where it comes from: %v %+v", err, plan.Changes)
				}
				other, err := app.New(ctx, app.Config{DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test"})
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				if err := accountfile.Import(ctx, other.DB, other.Keyring, file, clock.System.Now(), false); err != nil {
					t.Fatal(err)
				}
				want, got := written(t, export(t, a, account, secrets)), written(t, export(t, other, account, secrets))
				if !bytes.Equal(want, got) {
					t.Errorf("secrets %v: the import exports\n%s\nwant\n%s", secrets, got, want)
				}
				if !secrets && bytes.Contains(want, []byte("secret-")) {
					t.Error("an export without secrets has one")
				}
			}
		})
	}
}

func export(t *testing.T, a *app.App, account int64, secrets bool) *accountfile.File {
	t.Helper()
	file, err := accountfile.Export(context.Background(), a.DB, a.Keyring, account, secrets)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func written(t *testing.T, file *accountfile.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := accountfile.Write(&b, file); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var (
	place   = regexp.MustCompile(`\$[a-z_]+`)
	idNames = regexp.MustCompile(`"(person_id|team_id|role_id|member_id|cal_id|schedule_id|template_id|field_id|channel_id|rule_id|integration_id|application_id|override_id|absence_id|page_id|change_id|id)":"?([0-9A-Za-z.]+)"?`)
)

// randomAccount makes 400 calls, many of which are refused, and returns the account's id.
func randomAccount(t *testing.T, r *rand.Rand, url, key string) int64 {
	t.Helper()
	now := clock.System.Now().Unix()
	ids := map[string][]string{"soon": {fmt.Sprint(now)}, "later": {fmt.Sprint(now + 1e6)}}
	done := 0
	word := 0
	call := func(path, body string) []byte {
		response, err := http.Post(url+path+"?app_key="+key, "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		reply, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode >= 500 {
			t.Fatalf("%s %s: %d %s %v", path, body, response.StatusCode, reply, err)
		}
		if response.StatusCode == http.StatusOK {
			done++
			for _, m := range idNames.FindAllSubmatch(reply, -1) {
				name := string(m[1])
				if name == "member_id" {
					name = "person_id"
				}
				ids[name] = append(ids[name], string(m[2]))
			}
		}
		return reply
	}
	var self struct {
		Data struct {
			AccountID int64 `json:"account_id"`
		}
	}
	if err := json.Unmarshal(call("/member/info", `{}`), &self); err != nil {
		t.Fatal(err)
	}
	for range 400 {
		c := changes[r.IntN(len(changes))]
		body := place.ReplaceAllStringFunc(c.body, func(name string) string {
			known := ids[name[1:]]
			if len(known) == 0 {
				return "1"
			}
			return known[r.IntN(len(known))]
		})
		word++
		call(c.path, regexp.MustCompile(`~`).ReplaceAllString(body, fmt.Sprintf("w%d", word)))
	}
	if done < 60 {
		t.Fatalf("only %d calls were done", done)
	}
	return self.Data.AccountID
}
