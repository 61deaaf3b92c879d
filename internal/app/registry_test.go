package app_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/app"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// The permissions that a narrowed key needs for operations that any full key may call.
const (
	narrowedReads     = "any full key; a narrowed one needs Members Read (org)"
	narrowedPlans     = "any full key; a narrowed one needs Schedules Manage (on-call) or Members Manage (org)"
	narrowedSelf      = "any full key; a narrowed one needs Schedules Manage (on-call)"
	narrowedPlanReads = "any full key; a narrowed one needs Schedules Read (on-call) or Members Manage (org)"
	narrowedManages   = "any full key; a narrowed one needs Members Manage (org)"
	narrowedIncidents = "any full key; a narrowed one needs Incidents Manage (on-call)"
)

// openWrites are the writes that any valid key may call, however narrowed: the caller's own marks, the writes that the
// contract opens to every key, and an export, which changes nothing, for the callers of its list.
var openWrites = []string{"/channel/star", "/channel/unstar", "/rum/issue/update", "/rum/issue/export"}

// specified lists the permissions of each operation as in docs/api.md: any one of them suffices, "" is any
// valid key. An operation that is missing here, or here and not mounted, fails the test.
var specified = map[string]string{
	"/schedule/info":                       "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/explain":                    "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/create":                     "Schedules Manage (on-call)",
	"/schedule/update":                     "Schedules Manage (on-call)",
	"/schedule/preview":                    "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/list":                       "",
	"/schedule/infos":                      "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/self":                       "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/by-person":                  "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/gap/list":                   "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/uses":                       "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/lint":                       "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/calendar/url":               "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/calendar/list":              "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/calendar/revoke":            "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/stats":                      "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/delete":                     "Schedules Manage (on-call)",
	"/schedule/override/create":            "Schedules Manage (on-call)",
	"/schedule/override/list":              "Schedules Read (on-call) or Schedules Manage (on-call)",
	"/schedule/override/update":            "Schedules Manage (on-call)",
	"/schedule/override/delete":            "Schedules Manage (on-call)",
	"/schedule/shift/take":                 narrowedSelf,
	"/schedule/shift/hand-over":            narrowedSelf,
	"/schedule/cover/request":              narrowedSelf,
	"/schedule/cover/accept":               narrowedSelf,
	"/schedule/cover/decline":              narrowedSelf,
	"/schedule/cover/cancel":               narrowedSelf,
	"/schedule/cover/list":                 "any full key; a narrowed one needs Schedules Read (on-call) or Schedules Manage (on-call)",
	"/person/absence/create":               narrowedPlans,
	"/person/absence/list":                 narrowedPlanReads,
	"/person/absence/update":               narrowedPlans,
	"/person/absence/delete":               narrowedPlans,
	"/alert/info":                          "Channels Read (on-call)",
	"/change/list":                         "Channels Read (on-call)",
	"/alert/list":                          "Channels Read (on-call)",
	"/alert/list-by-ids":                   "Channels Read (on-call)",
	"/alert/event/list":                    "Channels Read (on-call)",
	"/alert-event/list":                    "Channels Read (on-call)",
	"/alert/feed":                          "Channels Read (on-call)",
	"/alert/filter/try":                    "Channels Read (on-call)",
	"/alert/rule/hits":                     "Channels Read (on-call)",
	"/channel/rules/try":                   "Channels Read (on-call)",
	"/account/health/info":                 "Audit Read (org)",
	"/alert/explain":                       "Channels Read (on-call)",
	"/alert/merge":                         "Incidents Manage (on-call)",
	"/alert/close":                         "Incidents Manage (on-call)",
	"/alert/silence":                       "Incidents Manage (on-call)",
	"/alert/silence/preview":               "Incidents Manage (on-call)",
	"/alert/silence/list":                  "Incidents Manage (on-call)",
	"/alert/silence/undo":                  "Incidents Manage (on-call)",
	"/incident/silence":                    "Incidents Manage (on-call)",
	"/incident/silence/preview":            "Incidents Manage (on-call)",
	"/lint/list":                           "Channels Read (on-call) or Channels Manage (on-call)",
	"/preference/info":                     narrowedReads,
	"/preference/update":                   narrowedManages,
	"/incident/escalation/preview":         "Incidents Read (on-call)",
	"/incident/explain":                    "Incidents Read (on-call)",
	"/incident/info":                       "Incidents Read (on-call)",
	"/incident/list":                       "Incidents Read (on-call)",
	"/incident/untold/list":                "Incidents Read (on-call)",
	"/incident/past/list":                  "Incidents Read (on-call)",
	"/incident/list-by-ids":                "Incidents Read (on-call)",
	"/incident/alert/list":                 "Incidents Read (on-call)",
	"/incident/feed":                       "Incidents Read (on-call)",
	"/incident/page-me":                    narrowedIncidents,
	"/incident/create":                     "Incidents Manage (on-call)",
	"/incident/ack":                        "Incidents Manage (on-call)",
	"/incident/unack":                      "Incidents Manage (on-call)",
	"/incident/answer":                     "Incidents Manage (on-call)",
	"/incident/snooze":                     "Incidents Manage (on-call)",
	"/incident/wake":                       "Incidents Manage (on-call)",
	"/incident/resolve":                    "Incidents Manage (on-call)",
	"/incident/reopen":                     "Incidents Manage (on-call)",
	"/incident/merge":                      "Incidents Manage (on-call)",
	"/incident/disable-merge":              "Incidents Manage (on-call)",
	"/incident/assign":                     "Incidents Manage (on-call)",
	"/incident/responder/add":              "Incidents Manage (on-call)",
	"/incident/comment":                    "Incidents Manage (on-call)",
	"/incident/reset":                      "Incidents Manage (on-call)",
	"/incident/field/reset":                "Incidents Manage (on-call)",
	"/incident/remove":                     "Incidents Manage (on-call)",
	"/channel/silence/rule/list-effective": "Channels Read (on-call)",
	"/channel/silence/rule/list":           "Channels Read (on-call)",
	"/channel/unsubscribe/rule/list":       "",
	"/insight/account":                     "Incidents Read (on-call)",
	"/insight/team":                        "Incidents Read (on-call)",
	"/insight/channel":                     "Incidents Read (on-call)",
	"/insight/responder":                   "Incidents Read (on-call)",
	"/insight/incident/list":               "Incidents Read (on-call)",
	"/insight/team/export":                 "Incidents Read (on-call)",
	"/insight/channel/export":              "Incidents Read (on-call)",
	"/insight/responder/export":            "Incidents Read (on-call)",
	"/insight/incident/export":             "Incidents Read (on-call)",
	"/report/oncall/notifications":         "Incidents Read (on-call)",
	"/insight/alert/topk-by-label":         "Channels Read (on-call)",
	"/report/oncall/changes":               "Channels Read (on-call)",
	"/incident/war-room/default-observers": "",
	"/incident/war-room/create":            "Incidents Manage (on-call)",
	"/incident/war-room/list":              "Incidents Read (on-call)",
	"/incident/war-room/detail":            "Incidents Read (on-call)",
	"/incident/war-room/delete":            "Incidents Manage (on-call)",
	"/incident/war-room/add-member":        "Incidents Manage (on-call)",
	"/monit/edge/list":                     "Alerting Engines Read (monit)",
	"/monit/edge/delete":                   "Alerting Engines Manage (monit)",
	"/monit/edge/key/create":               "Alerting Engines Manage (monit)",
	"/monit/edge/key/update":               "Alerting Engines Manage (monit)",
	"/monit/edge/key/list":                 "Alerting Engines Read (monit)",
	"/monit/edge/key/delete":               "Alerting Engines Manage (monit)",
	"/monit/edge/cluster/list":             "Alerting Engines Read (monit)",
	"/monit/edge/cluster/update":           "Alerting Engines Manage (monit)",
	"/monit/folder/create":                 "Alerting Rules Manage (monit)",
	"/monit/folder/update":                 "Alerting Rules Manage (monit)",
	"/monit/folder/delete":                 "Alerting Rules Manage (monit)",
	"/monit/folder/list":                   "Alerting Rules Read (monit)",
	"/monit/rule/create":                   "Alerting Rules Manage (monit)",
	"/monit/rule/update":                   "Alerting Rules Manage (monit)",
	"/monit/rule/delete":                   "Alerting Rules Manage (monit)",
	"/monit/rule/delete/batch":             "Alerting Rules Manage (monit)",
	"/monit/rule/update/fields":            "Alerting Rules Manage (monit)",
	"/monit/rule/move":                     "Alerting Rules Manage (monit)",
	"/monit/rule/import":                   "Alerting Rules Manage (monit)",
	"/monit/rule/status":                   "Alerting Rules Read (monit)",
	"/monit/rule/counter/status":           "Alerting Rules Read (monit)",
	"/monit/rule/counter/channel":          "Alerting Rules Read (monit)",
	"/monit/rule/counter/total":            "Alerting Rules Read (monit)",
	"/monit/rule/export":                   "Alerting Rules Read (monit)",
	"/monit/rule/audits":                   "Alerting Rules Read (monit)",
	"/monit/rule/audit/detail":             "Alerting Rules Read (monit)",
	"/monit/rule/dstypes":                  "Alerting Rules Read (monit)",
	"/monit/rule/info":                     "Alerting Rules Read (monit)",
	"/monit/rule/list/basic":               "Alerting Rules Read (monit)",
	"/monit/rule/state":                    "Alerting Rules Read (monit)",
	"/monit/rule/history":                  "Alerting Rules Read (monit)",
	"/monit/rule/explain":                  "Alerting Rules Read (monit)",
	"/monit/datasource/state":              "Datasources Read (monit)",
	"/monit/preview/sync":                  "Datasources Read (monit)",
	"/monit/query/data":                    "Datasources Read (monit)",
	"/monit/rule/graph":                    "Datasources Read (monit)",
	"/monit/rule/test":                     "Datasources Read (monit)",
	"/monit/rule/backtest":                 "Datasources Read (monit)",
	"/monit/rule/import/prove":             "Datasources Read (monit)",
	"/monit/rule/import/file":              "Alerting Rules Manage (monit)",
	"/monit/datasource/create":             "Datasources Manage (monit)",
	"/monit/datasource/info":               "Datasources Read (monit)",
	"/monit/datasource/update":             "Datasources Manage (monit)",
	"/monit/datasource/test":               "Datasources Manage (monit)",
	"/monit/datasource/list":               "Datasources Read (monit)",
	"/monit/datasource/sls/projects":       "Datasources Read (monit)",
	"/monit/datasource/sls/logstores":      "Datasources Read (monit)",
	"/monit/datasource/delete":             "Datasources Manage (monit)",
	"/status-page/info":                    "",
	"/status-page/list":                    "",
	"/status-page/change/info":             "",
	"/status-page/change/list":             "",
	"/status-page/change/active/list":      "",
	"/status-page/create":                  "Status Pages Manage (on-call)",
	"/status-page/update":                  "Status Pages Manage (on-call)",
	"/status-page/delete":                  "Status Pages Manage (on-call)",
	"/status-page/change/create":           "Status Pages Events Manage (on-call)",
	"/status-page/change/update":           "Status Pages Events Manage (on-call)",
	"/status-page/change/delete":           "Status Pages Events Manage (on-call)",
	"/status-page/change/timeline/create":  "Status Pages Events Manage (on-call)",
	"/status-page/change/timeline/update":  "Status Pages Events Manage (on-call)",
	"/status-page/change/timeline/delete":  "Status Pages Events Manage (on-call)",
	"/rum/application/infos":               "",
	"/rum/application/create":              "Applications Manage (rum)",
	"/rum/application/update":              "Applications Manage (rum)",
	"/rum/application/delete":              "Applications Manage (rum)",
	"/rum/application/token/rotate":        "Applications Manage (rum)",
	"/rum/application/info":                "",
	"/rum/application/list":                "",
	"/rum/issue/list":                      "",
	"/rum/issue/export":                    "",
	"/rum/issue/update":                    "",
	"/rum/issue/info":                      "",
	"/rum/issue/days":                      "",
	"/rum/issue/sample/list":               "",
	"/sourcemap/list":                      "",
	"/sourcemap/stack/enrich":              "Applications Read (rum) or Applications Manage (rum)",
	"/person/infos":                        "",
	"/webhook/history/list":                "Integrations Read (on-call)",
	"/webhook/history/detail":              "Integrations Read (on-call)",
	"/webhook/message/info":                "Integrations Read (on-call)",
	"/webhook/endpoint/info":               "Integrations Read (on-call)",
	"/webhook/endpoint/days":               "Integrations Read (on-call)",
	"/webhook/history/replay":              "Integrations Manage (on-call)",
	"/webhook/endpoint/list":               "Integrations Read (on-call)",
	"/webhook/test":                        "Integrations Manage (on-call)",
	"/webhook/replay":                      "Integrations Manage (on-call)",
	"/webhook/replay/list":                 "Integrations Read (on-call)",
	"/webhook/replay/cancel":               "Integrations Manage (on-call)",
	"/audit/search":                        "Audit Read (org)",
	"/audit/operation/list":                "Audit Read (org)",
	"/account/info":                        "",
	"/account/fallback/info":               "",
	"/account/fallback/update":             "Members Manage (org)",
	"/account/update":                      "Members Manage (org)",
	"/member/info":                         "",
	"/member/list":                         "",
	"/member/info/reset":                   narrowedManages,
	"/session/list":                        narrowedReads,
	"/session/end":                         narrowedManages,
	"/person/push/subscribe":               narrowedManages,
	"/person/push/list":                    narrowedReads,
	"/person/push/remove":                  narrowedManages,
	"/person/push/test":                    narrowedManages,
	"/person/link/create":                  "Members Manage (org)",
	"/person/password/update":              narrowedManages,
	"/person/security/info":                narrowedReads,
	"/person/second-factor/begin":          narrowedManages,
	"/person/second-factor/confirm":        narrowedManages,
	"/person/second-factor/remove":         narrowedManages,
	"/person/email/prove":                  narrowedManages,
	"/person/identity/remove":              "Members Manage (org)",
	"/person/app-key/create":               narrowedManages,
	"/person/app-key/list":                 narrowedReads,
	"/person/app-key/enable":               narrowedManages,
	"/person/app-key/disable":              narrowedManages,
	"/person/app-key/delete":               narrowedManages,
	"/person/app-key/name/reset":           narrowedManages,
	"/team/info":                           "",
	"/team/infos":                          "",
	"/team/list":                           "",
	"/role/list":                           "",
	"/role/info":                           "",
	"/role/permission/factor/list":         "",
	"/datasource/im/war-room-enabled/list": "Incidents Read (on-call)",
	"/role/permission/list":                "",
	"/calendar/info":                       "",
	"/calendar/list":                       "",
	"/calendar/event/list":                 "",
	"/channel/info":                        "",
	"/channel/infos":                       "",
	"/channel/list":                        "",
	"/channel/star":                        "",
	"/channel/unstar":                      "",
	"/field/info":                          "",
	"/field/list":                          "",
	"/member/invite":                       "Members Manage (org)",
	"/member/delete":                       "Members Manage (org)",
	"/member/role/grant":                   "Members Manage (org)",
	"/member/role/revoke":                  "Members Manage (org)",
	"/member/role/update":                  "Members Manage (org)",
	"/team/upsert":                         "Teams Manage (org)",
	"/team/delete":                         "Teams Manage (org)",
	"/role/upsert":                         "Roles Manage (org)",
	"/role/delete":                         "Roles Manage (org)",
	"/role/enable":                         "Roles Manage (org)",
	"/role/disable":                        "Roles Manage (org)",
	"/role/member/grant":                   "Roles Manage (org)",
	"/role/member/revoke":                  "Roles Manage (org)",
	"/calendar/create":                     "Calendars Manage (on-call)",
	"/calendar/update":                     "Calendars Manage (on-call)",
	"/calendar/delete":                     "Calendars Manage (on-call)",
	"/calendar/event/upsert":               "Calendars Manage (on-call)",
	"/calendar/event/delete":               "Calendars Manage (on-call)",
	"/channel/create":                      "Channels Manage (on-call)",
	"/channel/update":                      "Channels Manage (on-call)",
	"/channel/enable":                      "Channels Manage (on-call)",
	"/channel/disable":                     "Channels Manage (on-call)",
	"/channel/delete":                      "Channels Manage (on-call)",
	"/channel/silence/rule/create":         "Channels Manage (on-call)",
	"/channel/silence/rule/update":         "Channels Manage (on-call)",
	"/channel/silence/rule/enable":         "Channels Manage (on-call)",
	"/channel/silence/rule/disable":        "Channels Manage (on-call)",
	"/channel/silence/rule/delete":         "Channels Manage (on-call)",
	"/channel/inhibit/rule/create":         "Channels Manage (on-call)",
	"/channel/inhibit/rule/update":         "Channels Manage (on-call)",
	"/channel/inhibit/rule/enable":         "Channels Manage (on-call)",
	"/channel/inhibit/rule/disable":        "Channels Manage (on-call)",
	"/channel/inhibit/rule/delete":         "Channels Manage (on-call)",
	"/channel/escalate/rule/create":        "Channels Manage (on-call)",
	"/channel/escalate/rule/update":        "Channels Manage (on-call)",
	"/channel/escalate/rule/enable":        "Channels Manage (on-call)",
	"/channel/escalate/rule/disable":       "Channels Manage (on-call)",
	"/channel/escalate/rule/delete":        "Channels Manage (on-call)",
	"/channel/inhibit/rule/list":           "Channels Read (on-call)",
	"/channel/escalate/rule/list":          "Channels Read (on-call)",
	"/channel/escalate/rule/info":          "Channels Read (on-call)",
	"/channel/unsubscribe/rule/create":     "Channels Manage (on-call)",
	"/channel/unsubscribe/rule/update":     "Channels Manage (on-call)",
	"/channel/unsubscribe/rule/enable":     "Channels Manage (on-call)",
	"/channel/unsubscribe/rule/disable":    "Channels Manage (on-call)",
	"/channel/unsubscribe/rule/delete":     "Channels Manage (on-call)",
	"/template/create":                     "Templates Manage (on-call)",
	"/template/update":                     "Templates Manage (on-call)",
	"/template/delete":                     "Templates Manage (on-call)",
	"/template/info":                       "Templates Read (on-call)",
	"/template/preview":                    "Templates Read (on-call)",
	"/template/list":                       "Templates Read (on-call) or Templates Manage (on-call)",
	"/field/create":                        "Custom Fields Manage (on-call)",
	"/field/update":                        "Custom Fields Manage (on-call)",
	"/field/delete":                        "Custom Fields Manage (on-call)",
	"/integration/create":                  "Integrations Manage (on-call)",
	"/integration/update":                  "Integrations Manage (on-call)",
	"/integration/enable":                  "Integrations Manage (on-call)",
	"/integration/disable":                 "Integrations Manage (on-call)",
	"/integration/delete":                  "Integrations Manage (on-call)",
	"/integration/key/rotate":              "Integrations Manage (on-call)",
	"/integration/secret/rotate":           "Integrations Manage (on-call)",
	"/integration/secret/expire":           "Integrations Manage (on-call)",
	"/route/upsert":                        "Integrations Manage (on-call)",
	"/alert/pipeline/upsert":               "Integrations Manage (on-call)",
	"/integration/info":                    "Integrations Read (on-call)",
	"/integration/type/list":               "Integrations Read (on-call)",
	"/integration/list":                    "Integrations Read (on-call)",
	"/integration/test":                    "Integrations Manage (on-call)",
	"/alert/pipeline/info":                 "Integrations Read (on-call)",
	"/alert/pipeline/list":                 "Integrations Read (on-call)",
	"/route/info":                          "Integrations Read (on-call) or Integrations Manage (on-call)",
	"/route/list":                          "Integrations Read (on-call) or Integrations Manage (on-call)",
	"/route/history/list":                  "Integrations Read (on-call) or Integrations Manage (on-call)",
	"/route/preview":                       "Integrations Read (on-call) or Integrations Manage (on-call)",
	"/enrichment/list":                     "Integrations Read (on-call) or Integrations Manage (on-call)",
	"/enrichment/upsert":                   "Channels Manage (on-call) or Integrations Manage (on-call)",
	"/enrichment/info":                     "Channels Read (on-call) or Channels Manage (on-call) or Integrations Read (on-call) or Integrations Manage (on-call)",
}

// start assembles the whole program on an empty database, with one account whose owner holds the first key
// and a person without any role the second.
func start(t *testing.T) (a *app.App, url, owner, nobody string) {
	t.Helper()
	ctx := context.Background()
	a, err := app.New(ctx, app.Config{
		DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	first, err := a.FirstStart(ctx, "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	err = a.DB.Write(ctx, func(tx *db.Tx) error {
		const guest = 77
		if err := person.Load(tx, first.AccountID, []person.Record{{Item: person.Item{PersonID: guest, PersonName: "Guest", Status: "enabled"}}}); err != nil {
			return err
		}
		_, nobody, err = person.CreateKey(tx, auth.NewKey{Account: first.AccountID, Person: guest}, clock.System.Now().Unix())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Frame)
	t.Cleanup(func() { server.Close(); a.Close() })
	return a, server.URL, first.Key, nobody
}

func TestEveryOperationIsComplete(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	left := map[string]bool{}
	for path := range specified {
		left[path] = true
	}
	for _, op := range a.Frame.Ops() {
		t.Run(op.Path, func(t *testing.T) {
			want, ok := specified[op.Path]
			if !ok {
				t.Error("is not in the table of permissions")
			}
			delete(left, op.Path)
			names := func(list []auth.Permission) string {
				names := []string{}
				for _, p := range list {
					names = append(names, p.String())
				}
				return strings.Join(names, " or ")
			}
			got := names(op.Allow)
			if len(op.Narrowed) > 0 && got == "" {
				got = "any full key; a narrowed one needs " + names(op.Narrowed)
			}
			if got != want {
				t.Errorf("permission %q, want %q", got, want)
			}
			if open := op.Effect == api.Write && got == ""; open != slices.Contains(openWrites, op.Path) {
				t.Errorf("a write that any key may call: %t; set what a narrowed key needs", open)
			}
			if !strings.HasSuffix(op.Doc, ".") || len(op.Doc) < 10 {
				t.Errorf("doc sentence %q", op.Doc)
			}
			if !json.Valid([]byte(op.Example)) {
				t.Errorf("example %q", op.Example)
			}
			if len(op.Reply) == 0 {
				t.Errorf("no golden reply: %s in the operation's package", api.GoldenFile(op.Path))
			}
			if (op.Effect == api.Write) != (op.Audit != "") {
				t.Errorf("a write and only a write has a name in the audit log, got %q", op.Audit)
			}
		})
	}
	for path := range left {
		t.Errorf("%s is not mounted", path)
	}
}

// TestEveryOperationRefuses: every operation refuses bad requests in the documented order.
func TestEveryOperationRefuses(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile(`"((\w+_)?(name|title))": *"[^"]*"`)
	a, url, owner, nobody := start(t)
	for n, op := range a.Frame.Ops() {
		t.Run(op.Path, func(t *testing.T) {
			for _, c := range []struct {
				name, method, path, key, contentType, body, code string
			}{
				{"unknown path", "POST", op.Path + "x", owner, "application/json", op.Example, "RouteNotFound"},
				{"method", "PUT", op.Path, owner, "", "", "MethodNotAllowed"},
				{"no key", "POST", op.Path, "", "application/json", op.Example, "Unauthorized"},
				{"wrong key", "POST", op.Path, owner + "x", "application/json", op.Example, map[bool]string{true: "Unauthorized"}[n%2 == 0]}, // an address may guess 300 keys a minute
				{"content type", "POST", op.Path, owner, "text/plain", op.Example, "InvalidContentType"},
				{"malformed", "POST", op.Path, owner, "application/json", `{"x":`, "InvalidParameter"},
				{"trailing garbage", "POST", op.Path, owner, "application/json", op.Example + "}", "InvalidParameter"},
				{"not an object", "POST", op.Path, owner, "application/json", map[bool]string{false: `[]`, true: `{}`}[strings.HasPrefix(op.Example, "[")], "InvalidParameter"},
				{"too large", "POST", op.Path, owner, "application/json", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, "EntityTooLarge"},
				{"blank names", "POST", op.Path, owner, "application/json", names.ReplaceAllString(op.Example, `"$1": "  "`),
					map[bool]string{true: "InvalidParameter"}[names.MatchString(op.Example)]},
				{"denied", "POST", op.Path, nobody, "application/json", op.Example, map[bool]string{true: "AccessDenied"}[len(op.Allow) > 0]},
			} {
				if c.code == "" { // the case is left out: any valid key may call, so no key is refused; or the example has no name
					continue
				}
				if got := call(t, c.method, url+c.path, c.key, c.contentType, c.body); got != c.code {
					t.Errorf("%s: code %q, want %q", c.name, got, c.code)
				}
			}
		})
	}
}

// call returns the error code of a reply, empty for a success.
func call(t *testing.T, method, url, key, contentType, body string) string {
	t.Helper()
	r, err := http.NewRequest(method, url+"?app_key="+key, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	var shape struct{ Error struct{ Code string } }
	if err := json.Unmarshal(b, &shape); err != nil || !jsontext.Value(b).IsValid() {
		t.Fatalf("%v, or a member given twice, in %s", err, b)
	}
	return shape.Error.Code
}
