package schedule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/schedule"
)

// load decodes records as an account file is decoded, and loads them into account A.
func load(t testing.TB, s *apitest.Server, file string) error {
	t.Helper()
	var records []schedule.Record
	if err := json.Unmarshal([]byte(file), &records, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%v in %s", err, file)
	}
	return s.DB.Write(t.Context(), func(tx *db.Tx) error { return schedule.Load(tx, box(t), apitest.AccountA, records) })
}

func dump(t testing.TB, s *apitest.Server, secrets bool) string {
	t.Helper()
	var file []byte
	err := s.DB.Snapshot(t.Context(), func(tx *db.Tx) error {
		records, err := schedule.Dump(tx, box(t), apitest.AccountA, secrets)
		if err != nil {
			return err
		}
		file, err = json.Marshal(records, json.Deterministic(true))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

// TestDumpAndLoadAreInverse loads random records, dumps them, and loads the dump: both dumps are equal, and every member
// of the file is in them.
func TestDumpAndLoadAreInverse(t *testing.T) {
	t.Parallel()
	s, r := start(t), newRandom(t)
	for i := range 40 {
		file := []any{}
		for n := range r.IntN(4) {
			o := r.body()
			for name, value := range o {
				if unset := text(t, value); unset == `0` || unset == `[]` {
					delete(o, name)
				}
			}
			o["schedule_id"] = 10*int64(n) + r.Int64N(10) + 1
			for _, stamp := range []string{"create_at", "create_by", "update_at", "update_by"} {
				if r.chance() {
					o[stamp] = r.Int64N(1_800_000_000)
				}
			}
			if r.chance() {
				o["account_id"] = apitest.AccountA
			}
			file = append(file, o)
		}
		reload := func(file string) string {
			s.Exec(`DELETE FROM schedule`)
			if err := load(t, s, file); err != nil {
				t.Fatalf("case %d: %v\n%s", i, err, file)
			}
			return dump(t, s, true)
		}
		first := reload(text(t, file))
		if again := reload(first); again != first {
			t.Fatalf("case %d: dumped %s\nand then %s", i, first, again)
		}
		if at := differs(parsed(t, text(t, file)), parsed(t, first), "schedules"); at != "" {
			t.Fatalf("case %d: %s\nloaded %s\ndumped %s", i, at, text(t, file), first)
		}
	}
}

func TestDumpOmitsUnsetMembers(t *testing.T) {
	t.Parallel()
	s := start(t)
	if err := load(t, s, `[{"schedule_id":7,"schedule_name":"S","description":"","team_id":0,"status":0,"layers":[],"notify":null}]`); err != nil {
		t.Fatal(err)
	}
	const want = `[{"schedule_id":7,"account_id":2451002751131,"schedule_name":"S","name":"S"}]`
	if got := dump(t, s, true); !apitest.SameJSON([]byte(got), []byte(want)) {
		t.Errorf("got %s", got)
	}
}

// TestLoadAcceptsInfoReply loads the reply of /schedule/info.
func TestLoadAcceptsInfoReply(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := full(t, s)
	shown := s.Call(apitest.KeyA, "/schedule/info", object{"schedule_id": id})
	before := dump(t, s, true)
	s.Exec(`DELETE FROM schedule`)
	if err := load(t, s, "["+string(shown.Data)+"]"); err != nil {
		t.Fatal(err)
	}
	if after := dump(t, s, true); after != before {
		t.Errorf("got  %s\nwant %s", after, before)
	}
}

func TestDumpHoldsSecretsOnlyOnRequest(t *testing.T) {
	t.Parallel()
	s := start(t)
	full(t, s)
	if got := dump(t, s, false); contains(got, "hush") || !contains(got, `"verify_token":""`) {
		t.Errorf("got %s", got)
	}
	if got := dump(t, s, true); !contains(got, `"verify_token":"hush"`) {
		t.Errorf("got %s", got)
	}
	if raw := column(t, s, `SELECT notify FROM schedule`); contains(raw, "hush") {
		t.Errorf("a secret is stored in clear")
	}
}

func TestDumpIsOrderedAndOfOneAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	if err := load(t, s, `[{"schedule_id":9,"name":"nine"},{"schedule_id":3,"name":"three"}]`); err != nil {
		t.Fatal(err)
	}
	s.Call(apitest.KeyB, "/schedule/create", `{"name":"of another account"}`).Into(&schedule.Created{})
	if got := dump(t, s, true); contains(got, "another") || strings.Index(got, "three") > strings.Index(got, "nine") {
		t.Errorf("got %s", got)
	}
}

func TestLoadRejectsInvalidRecords(t *testing.T) {
	t.Parallel()
	s := start(t)
	const fine = `{"schedule_id":1,"name":"fine"}`
	group := `"groups":[{"members":[{"person_ids":[1]}]}]`
	for _, c := range []struct{ file, field, want string }{
		{`[{"name":"x","schedule_id":0}]`, "schedules[0].schedule_id", "at least 1"},
		{`[` + fine + `,` + fine + `]`, "schedules[1].schedule_id", "another schedule 1"},
		{`[{"schedule_id":1}]`, "schedules[0].schedule_name", "required"},
		{`[` + fine + `,{"schedule_id":2,"name":"` + strings.Repeat("x", 41) + `"}]`, "schedules[1].schedule_name", "40"},
		{`[{"schedule_id":1,"name":"x","description":"` + strings.Repeat("x", 501) + `"}]`, "schedules[0].description", "500"},
		{`[{"schedule_id":1,"name":"x","team_id":-1}]`, "schedules[0].team_id", "-1"},
		{`[{"schedule_id":1,"name":"x","status":2}]`, "schedules[0].status", "2"},
		{`[{"schedule_id":1,"name":"x","id":2}]`, "schedules[0].id", "2"},
		{`[{"schedule_id":1,"name":"x","account_id":5}]`, "schedules[0].account_id", "got 5"},
		{`[{"schedule_id":1,"name":"x","layers":[{"account_id":5}]}]`, "schedules[0].layers[0].account_id", "got 5"},
		{`[{"schedule_id":1,"name":"x","layers":[{"schedule_id":5}]}]`, "schedules[0].layers[0].schedule_id", "got 5"},
		{`[{"schedule_id":1,"name":"x","time_zone":"Nowhere"}]`, "schedules[0].time_zone", "Nowhere"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"mode":2}]}]`, "schedules[0].layers[0].mode", "got 2"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"mode":257}]}]`, "schedules[0].layers[0].mode", "got 257"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"hidden":2}]}]`, "schedules[0].layers[0].hidden", "got 2"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"rotation_unit":"day","rotation_value":31}]}]`,
			"schedules[0].layers[0].rotation_value", "got 31"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"rotation_unit":"day","rotation_value":1,"rotation_duration":-1}]}]`,
			"schedules[0].layers[0].rotation_duration", "-1"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"rotation_unit":"day","rotation_value":1,"restrict_mode":256}]}]`,
			"schedules[0].layers[0].restrict_mode", "got 256"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"rotation_unit":"day","rotation_value":1,"restrict_start":-1}]}]`,
			"schedules[0].layers[0].restrict_start", "got -1"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"rotation_unit":"day","rotation_value":1,` + group +
			`,"handoff_time":604800}]}]`, "schedules[0].layers[0].handoff_time", "604800"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"rotation_unit":"day","rotation_value":1,` + group +
			`,"time_zone":"Nowhere"}]}]`, "schedules[0].layers[0].time_zone", "Nowhere"},
		{`[{"schedule_id":1,"name":"x","layers":[{"layer_start":5,"rotation_unit":"day","rotation_value":1}]}]`, "schedules[0].layers[0].groups",
			"person"},
		{`[{"schedule_id":1,"name":"x","notify":{"advance_in_time":-1}}]`, "schedules[0].notify.advance_in_time", "-1"},
		{`[{"schedule_id":1,"name":"x","notify":{"webhooks":[{"type":"pigeon"}]}}]`, "schedules[0].notify.webhooks[0].type", "pigeon"},
	} {
		t.Run(fmt.Sprint(c.field, " ", c.want), func(t *testing.T) {
			err := load(t, s, c.file)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.InvalidParameter || f.Field != c.field || !contains(f.Message, c.want) {
				t.Errorf("got %v, want %s: %s", err, c.field, c.want)
			}
			if got := dump(t, s, false); got != "[]" {
				t.Errorf("schedules were stored: %s", got)
			}
		})
	}
}
