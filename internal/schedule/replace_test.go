package schedule_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api/apitest"
	"tocsin/internal/db"
	"tocsin/internal/schedule"
)

// Replacing schedules by others gives those, one without secrets keeps them, and erasing leaves the others
// alone, references included.
func TestReplaceAndErase(t *testing.T) {
	s, r := start(t), newRandom(t)
	file := func() string {
		var list []any
		for id := range 3 {
			o := r.body()
			o["schedule_id"], o["create_at"], o["create_by"], o["update_at"], o["update_by"] = id+1, 1+r.IntN(9), A, 1+r.IntN(9), B
			if n, ok := o["notify"].(object); ok && n["webhooks"] != nil {
				for _, w := range n["webhooks"].([]any) { // with every secret, so that none is kept from what was there
					settings := w.(object)["settings"].(object)
					settings["token"], settings["verify_token"], settings["sign_secret"], settings["hook_url"] = r.name(), r.name(), r.name(), r.name()
				}
			}
			list = append(list, o)
		}
		return text(t, list)
	}
	replace := func(file string) {
		t.Helper()
		var records []schedule.Record
		if err := json.Unmarshal([]byte(file), &records, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		before := text(t, records)
		s.Write(func(tx *db.Tx) error { return schedule.Replace(tx, box(t), apitest.AccountA, records) })
		if text(t, records) != before {
			t.Fatalf("replacing changed the records from %s\nto %s", before, text(t, records))
		}
	}
	for i := range 20 {
		want := file()
		s.Exec(`DELETE FROM schedule`)
		s.Exec(`DELETE FROM reference`)
		if err := load(t, s, want); err != nil {
			t.Fatal(err)
		}
		loaded, referring := dump(t, s, true), references(t, s)
		s.Exec(`DELETE FROM schedule WHERE schedule_id = 3`)
		replace(file())
		replace(want)
		if got := dump(t, s, true); got != loaded || references(t, s) != referring {
			t.Fatalf("case %d: replaced by %s\nwant %s", i, got, loaded)
		}
		replace(dump(t, s, false))
		if got := dump(t, s, true); got != loaded || references(t, s) != referring {
			t.Fatalf("case %d: without secrets %s\nwant %s", i, got, loaded)
		}
	}
	s.Write(func(tx *db.Tx) error {
		for _, id := range []int64{1, 3, 99} {
			if err := schedule.Erase(tx, apitest.AccountA, id); err != nil {
				return err
			}
		}
		return nil
	})
	if got := column(t, s, `SELECT group_concat(schedule_id) FROM schedule`); got != "2" {
		t.Errorf("left are %s", got)
	}
	if got := column(t, s, `SELECT coalesce(group_concat(DISTINCT from_id), '2') FROM reference`); got != "2" {
		t.Errorf("references of %s are left", got)
	}
}

// What an older version stored in clear is sealed when the program starts, and read as before; what is
// sealed already stays.
func TestCompleteSealsWhatIsInClear(t *testing.T) {
	s := start(t)
	settings := object{"token": "tok", "webhook_url": "https://hooks.example.com/T0", "limit": 5, "mode": "threads",
		"headers": object{"X-Key": "hush hush"}, "target": []string{"https://chat.example.com"}, "password": "${env:P}", "api_key": 77, "signed": true, "secret": ""}
	id := create(t, s, object{"notify": object{"webhooks": []any{object{"type": "slack", "settings": settings}}}})
	notify := func() string { return column(t, s, `SELECT notify FROM schedule WHERE schedule_id = $1`, id) }
	want := text(t, read(t, s, id)["notify"])
	sealed := notify()
	complete := func() {
		t.Helper()
		s.Write(func(tx *db.Tx) error { return schedule.Complete(tx, box(t)) })
		if got := text(t, read(t, s, id)["notify"]); got != want {
			t.Errorf("read as %s, want %s", got, want)
		}
		for _, secret := range []string{"example.com", "hush hush", `"api_key":77`, `"token":"tok"`} {
			if contains(notify(), secret) {
				t.Errorf("%s is in clear in %s", secret, notify())
			}
		}
		if !contains(notify(), `"mode":"threads"`, `"password":"${env:P}"`, `"signed":true`, `"secret":""`, `"limit":5`) {
			t.Errorf("what is no secret is hidden in %s", notify())
		}
	}
	complete()
	if notify() != sealed {
		t.Errorf("sealed anew: %s, was %s", notify(), sealed)
	}
	var stored map[string]any
	if err := json.Unmarshal([]byte(sealed), &stored); err != nil {
		t.Fatal(err)
	}
	older := stored["webhooks"].([]any)[0].(map[string]any)["settings"].(map[string]any)
	for name, value := range settings {
		if name != "token" {
			older[name] = value
		}
	}
	s.Exec(`UPDATE schedule SET notify = $1`, text(t, stored))
	if got := text(t, read(t, s, id)["notify"]); got != want {
		t.Errorf("in clear it is read as %s, want %s", got, want)
	}
	complete()
	n := 0
	s.Write(func(tx *db.Tx) (err error) {
		n, err = schedule.Reseal(tx, box(t))
		return err
	})
	if n != 5 {
		t.Errorf("%d secrets were sealed anew, want 5", n)
	}
	complete()
}
