package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// The sections that modules name are the lists of an account file.
func TestModulesNameSectionsOfFile(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	var named, lists []string
	for _, m := range a.Modules {
		named = append(named, m.Sections...)
	}
	for f := range reflect.TypeFor[accountfile.File]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Type.Kind() == reflect.Slice {
			lists = append(lists, name)
		}
	}
	slices.Sort(named)
	slices.Sort(lists)
	if !slices.Equal(named, lists) {
		t.Errorf("modules name %v, a file has %v", named, lists)
	}
}

// unfiled lists the tables that an account file leaves out, with the reason.
var unfiled = map[string]string{
	"page_change": "counts for pages that are open now",
	"audit_log":   "the history of writes", "audit_touched": "likewise", "audit_channel": "likewise",
	"object": "counted by kind", "object of kind route_version": "what a route was before",
	"datasource_counter": "the next number, which an import makes from the datasources",
	"alert_rule_counter": "the next numbers, likewise", "alert_rule_change": "what rules were", "alert_rule_count": "how many there were", "alert_rule_deleted": "what evaluates rules learns from it which are gone",
	"rule_instance": "what is open", "rule_watch": "what is not known now", "rule_transition": "what happened", "watch_state": "counters of what runs", "node_slot": "processes that run",
	"channel_star": "marks of persons",
	"session":      "who is signed in", "password": "hashes that no file is to hold; a link sets a new one", "identity": "found again by the e-mail address", "second_factor": "secrets", "recovery_code": "secrets",
	"sign_in_link": "secrets that end by themselves", "invitation": "what is to be sent", "sign_in_state": "what was used up in the last ten minutes",
	"push_subscription": "secret addresses of browsers; persons turn push on again",
	"cover_request":     "who was asked; another server would ask again",
	"ical_feed":         "secret addresses that only calendar programs know; persons create others",
	"webhook_endpoint":  "what came of deliveries", "webhook_replay": "likewise", "webhook_event": "likewise", "webhook_message": "likewise", "webhook_exchange": "likewise",
	"webhook_count": "computed from the deliveries", "webhook_count_day": "likewise",
	"handover": "computed from the schedules", "schedule_gap": "likewise", "silence_end": "computed from the silences",
	"heartbeat": "signs of life", "notice": "what was sent", "notice_send": "how much", "notice_failing": "what failed", "own_alert": "what is wrong now", "phone_answer": "what came back", "feed": "what happened",
	"edge": "members that call again", "edge_key": "secrets that are hashed", "edge_slot": "what runs", "edge_taken": "likewise", "edge_request": "questions that are asked now",
	"refused": "what was refused in the last 24 hours; it means nothing to another server", "unknown_severity": "what came in", "event_bytes": "what came in today",
	"audit_masking":   "what an upgrade leaves to do in the audit log",
	"source_map":      "what builds upload, for a time; the next release uploads it anew",
	"rum_fingerprint": "computed from the errors that arrive", "rum_sample": "what came in", "rum_day": "likewise", "rum_session": "likewise", "rum_version": "likewise", "rum_alert": "what runs", "rum_alert_group": "what runs",
	"event": "what came in", "event_waiting": "likewise", "verdict": "likewise", "change": "likewise", "escalation": "what runs", "follow_up": "likewise", "untold": "likewise", "war_room": "groups in chat services",
}

// TestFileHasEveryTable fills an account through its operations and imports its export into another database: each
// table then has as many rows as before, or is left out with a reason. A noun without a section shows as rows that are
// missing.
func TestFileHasEveryTable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	most := map[string]int64{}
	for seed := range uint64(3) {
		a, url, owner, _ := start(t)
		account := randomAccount(t, rand.New(rand.NewPCG(seed, 13)), url, owner)
		for _, c := range []struct{ path, body string }{
			{"/preference/update", `{"contacts":{"slack":"https://hooks.example.com/secret"}}`},
			{"/incident/create", fmt.Sprintf(`{"incident_severity":"Critical","title":"down","assigned_to":{"type":"assign","person_ids":[%d]}}`, ownerOf(t, a, account))},
		} {
			if status, data := post(t, url, owner, c.path, c.body); status != 200 {
				t.Fatalf("%s: %d %s", c.path, status, data)
			}
		}
		other, err := app.New(ctx, app.Config{DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if err := accountfile.Import(ctx, other.DB, other.Keyring, export(t, a, account, true), clock.System.Now(), false); err != nil {
			t.Fatal(err)
		}
		was, is := rowCounts(t, a.DB), rowCounts(t, other.DB)
		for _, table := range slices.Sorted(maps.Keys(was)) {
			most[table] = max(most[table], was[table])
			if unfiled[table] == "" && was[table] != is[table] {
				t.Errorf("seed %d: %s has %d rows and %d after an import: give it a section, or say why not", seed, table, was[table], is[table])
			}
		}
	}
	for table, n := range most {
		if n == 0 && unfiled[table] == "" && table != "alert" && table != "rum_issue" && table != "webhook_delivery" { // histories, which package accountfile tests
			t.Errorf("no call has made a row of %s", table)
		}
	}
}

func ownerOf(t *testing.T, a *app.App, account int64) int64 {
	t.Helper()
	return export(t, a, account, false).Account.OwnerID
}

// rowCounts counts the rows of each table that belongs to accounts, those of objects by kind.
func rowCounts(t *testing.T, d *db.DB) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	err := d.Read(context.Background(), func(tx *db.Tx) error {
		tables, err := dbtest.Tables(tx)
		if err != nil {
			return err
		}
		for _, table := range tables {
			columns, err := dbtest.Columns(tx, table)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(columns, func(c dbtest.Column) bool { return c.Name == "account_id" }) {
				continue
			}
			counts[table], _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM "`+table+`"`)
			if err != nil {
				return err
			}
		}
		// a replaced key that is good for a while is left out
		counts["integration_key"], _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM integration_key WHERE expires_at = 0`)
		if err != nil {
			return err
		}
		kinds, err := db.All(tx, db.Column[string], `SELECT kind FROM object`)
		for _, kind := range kinds {
			counts[fmt.Sprint("object of kind ", kind)]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}
