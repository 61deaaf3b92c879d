package schedulefeed_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-ical"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
	"tocsin/internal/schedulefeed"
)

const (
	A = apitest.OwnerA
	B = apitest.Reader
)

// world is a server with the operations and the feeds.
type world struct {
	*apitest.Server
	t     testing.TB
	feeds string // the address of the server that has the feeds
}

func start(t testing.TB) world {
	t.Helper()
	keyring := apitest.Box(t)
	s := &schedulefeed.Service{}
	server := apitest.Start(t, (&schedule.Service{Keyring: keyring}).Ops(), s.Ops())
	feeds := schedulefeed.New(schedulefeed.Service{DB: server.DB, Clock: server.Clock, Log: slog.New(slog.DiscardHandler)})
	mux := http.NewServeMux()
	mux.Handle("GET /calendar/feed/{file}", feeds.Handler(server.Frame.ClientIP))
	h := httptest.NewServer(mux)
	t.Cleanup(h.Close)
	return world{server, t, h.URL}
}

// load stores a schedule of two persons who take turns of a day.
func (w world) load(id int64, name string, persons ...int64) {
	w.t.Helper()
	start := apitest.Now.Unix() - 4*3600
	layer := schedule.LayerConfig{LayerName: "Days", LayerStart: start, RotationUnit: "day", RotationValue: 1, TimeZone: "Europe/Berlin"}
	for _, p := range persons {
		layer.Groups = append(layer.Groups, schedule.Group{GroupName: fmt.Sprint(p), Members: []schedule.Member{{PersonIDs: []int64{p}}}})
	}
	zone, team := "Europe/Berlin", int64(apitest.TeamA)
	r := schedule.Record{ScheduleID: id, Body: schedule.Body{ScheduleName: name, TimeZone: &zone, TeamID: &team,
		Layers: []schedule.WrittenLayer{{LayerConfig: layer}}}}
	w.Write(func(tx *db.Tx) error {
		return schedule.Load(tx, apitest.Box(w.t), apitest.AccountA, []schedule.Record{r})
	})
}

// url creates an address and returns its feed and path.
func (w world) url(key, body string) (feed, path string) {
	w.t.Helper()
	var made schedulefeed.Created
	w.Call(key, "/schedule/calendar/url", body).Into(&made)
	if !strings.HasPrefix(made.URL, "/calendar/feed/") || !strings.HasSuffix(made.URL, ".ics") {
		w.t.Fatalf("address %q", made.URL)
	}
	return made.FeedID, made.URL
}

// get reads a feed, with headers given as name and value.
func (w world) get(method, path string, headers ...string) (*http.Response, string) {
	w.t.Helper()
	r, err := http.NewRequest(method, w.feeds+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply, string(body)
}

// events reads the events of a feed by UID.
func (w world) events(path string) map[string]ical.Event {
	w.t.Helper()
	reply, body := w.get("GET", path)
	if reply.StatusCode != 200 {
		w.t.Fatalf("%d %s", reply.StatusCode, body)
	}
	cal, err := ical.NewDecoder(bytes.NewReader([]byte(body))).Decode()
	if err != nil {
		w.t.Fatal(err)
	}
	events := map[string]ical.Event{}
	for _, e := range cal.Events() {
		uid := e.Props.Get("UID").Value
		if _, twice := events[uid]; twice {
			w.t.Errorf("%s is there twice", uid)
		}
		events[uid] = e
	}
	return events
}

func sequence(t testing.TB, e ical.Event) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(e.Props.Get("SEQUENCE").Value, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The feeds of a schedule, a person and a team have the shifts of the timeline that /schedule/info shows.
func TestFeedsHaveShiftsOfTimeline(t *testing.T) {
	w := start(t)
	w.load(9001, "Production;\r\nBEGIN:VEVENT", A, B)
	w.load(9002, "Other", B)
	var info schedule.Schedule
	w.Call(apitest.KeyA, "/schedule/info", fmt.Sprintf(`{"schedule_id": 9001, "start": %d, "end": %d}`, apitest.Now.Unix(), apitest.Now.Unix()+40*86400)).Into(&info)
	_, all := w.url(apitest.KeyA, `{"kind": "schedule", "id": 9001}`)
	_, mine := w.url(apitest.KeyA, `{"kind": "person"}`)
	_, team := w.url(apitest.KeyA, fmt.Sprintf(`{"kind": "team", "id": %d, "time_zone": "America/New_York"}`, int64(apitest.TeamA)))
	feeds := map[string]map[string]ical.Event{all: w.events(all), mine: w.events(mine), team: w.events(team)}
	shifts := 0
	for _, e := range *info.FinalSchedule.Schedules {
		if e.Start == apitest.Now.Unix() || e.End == apitest.Now.Unix()+40*86400 {
			continue // cut to the window
		}
		person := e.Group.Members[0].PersonIDs[0]
		uid := fmt.Sprintf("9001-%d-0-%d@tocsin", person, e.Start)
		for path, events := range feeds {
			have, found := events[uid]
			if found != (path != mine || person == A) {
				t.Fatalf("%s: %s found: %t", path, uid, found)
			}
			if !found {
				continue
			}
			start, err := have.DateTimeStart(time.UTC)
			end, err2 := have.DateTimeEnd(time.UTC)
			if err != nil || err2 != nil || start.Unix() != e.Start || end.Unix() != e.End {
				t.Fatalf("%s: from %v to %v, want %d to %d", uid, start, end, e.Start, e.End)
			}
			shifts++
		}
	}
	if shifts < 90 {
		t.Fatalf("%d shifts were compared", shifts)
	}
	if _, body := w.get("GET", team); !strings.Contains(body, "X-WR-TIMEZONE:America/New_York\r\n") || !strings.Contains(body, "DTSTART;TZID=America/New_York:") {
		t.Error(body[:600])
	}
	if _, body := w.get("GET", all); !strings.Contains(body, "X-WR-TIMEZONE:Europe/Berlin\r\n") || strings.Contains(body, "\nBEGIN:VEVENT\r\nBEGIN") {
		t.Error(body[:600])
	}
}

// An event that does not change keeps its UID, sequence number and text; one that changes gets a higher number, also
// after it was away.
func TestSequenceGrowsWithChangesOnly(t *testing.T) {
	w := start(t)
	w.load(9001, "Production", A, B)
	_, path := w.url(apitest.KeyA, `{"kind": "schedule", "id": 9001}`)
	before := w.events(path)
	w.Clock.Add(time.Hour)
	w.Call(apitest.KeyA, "/schedule/update", `{"schedule_id": 9001, "description": "not of the shifts"}`).Into(&struct{}{})
	for uid, e := range w.events(path) {
		if fmt.Sprint(before[uid].Props) != fmt.Sprint(e.Props) {
			t.Fatalf("%s changed from %v to %v", uid, before[uid].Props, e.Props)
		}
	}
	w.Call(apitest.KeyA, "/schedule/update", `{"schedule_id": 9001, "schedule_name": "Renamed"}`).Into(&struct{}{})
	renamed := w.events(path)
	if len(renamed) != len(before) {
		t.Fatalf("%d events, want %d", len(renamed), len(before))
	}
	for uid, e := range renamed {
		if sequence(t, e) <= sequence(t, before[uid]) || e.Props.Get("LAST-MODIFIED").Value <= before[uid].Props.Get("LAST-MODIFIED").Value {
			t.Fatalf("%s: %v after %v", uid, e.Props, before[uid].Props)
		}
	}
	w.Call(apitest.KeyA, "/schedule/update", `{"schedule_id": 9001, "layers": []}`).Into(&struct{}{})
	if left := w.events(path); len(left) != 0 {
		t.Fatalf("%d events are left", len(left))
	}
}

func TestFeedIsReadOnlyWithItsAddress(t *testing.T) {
	w := start(t)
	w.load(9001, "Production", A, B)
	w.Grant(auth.SchedulesRead)
	feed, path := w.url(apitest.KeyReader, `{"kind": "person"}`)
	first, body := w.get("GET", path)
	if first.StatusCode != 200 || first.Header.Get("Content-Type") != "text/calendar; charset=utf-8" || first.Header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("%d %v", first.StatusCode, first.Header)
	}
	if again, _ := w.get("GET", path, "If-None-Match", first.Header.Get("ETag")); again.StatusCode != 304 {
		t.Errorf("unchanged: %d", again.StatusCode)
	}
	if head, empty := w.get("HEAD", path); head.StatusCode != 200 || empty != "" || head.Header.Get("Content-Length") != fmt.Sprint(len(body)) {
		t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
	}
	gone := func(what, path string) {
		t.Helper()
		reply, body := w.get("GET", path)
		if reply.StatusCode != 404 || body != "There is no such calendar.\n" || reply.Header.Get("ETag") != "" {
			t.Errorf("%s: %d %s", what, reply.StatusCode, body)
		}
	}
	gone("another secret", path[:len(path)-9]+"AAAAA.ics")
	gone("no token", "/calendar/feed/x.ics")
	gone("no file", strings.TrimSuffix(path, ".ics"))
	w.Grant() // the role has no permissions any more
	gone("without permission", path)
	w.Grant(auth.SchedulesRead)
	w.Exec(`UPDATE person SET status = 'deleted' WHERE account_id = $1 AND person_id = $2`, apitest.AccountA, apitest.Reader)
	w.Exec(`UPDATE account SET revision = revision + 1 WHERE account_id = $1`, apitest.AccountA)
	gone("of a person who has left", path)
	w.Exec(`UPDATE person SET status = 'enabled' WHERE account_id = $1 AND person_id = $2`, apitest.AccountA, apitest.Reader)
	w.Exec(`UPDATE account SET revision = revision + 1 WHERE account_id = $1`, apitest.AccountA)
	if back, _ := w.get("GET", path); back.StatusCode != 200 {
		t.Fatalf("back: %d", back.StatusCode)
	}
	var listed schedulefeed.Listed
	w.Call(apitest.KeyReader, "/schedule/calendar/list", `{}`).Into(&listed)
	if len(listed.Items) != 1 || listed.Items[0].FeedID != feed || listed.Items[0].ReadAt == 0 {
		t.Errorf("%+v", listed)
	}
	w.Call(apitest.KeyReader, "/schedule/calendar/revoke", `{"feed_id": "`+feed+`"}`).Into(&struct{}{})
	gone("revoked", path)
	_, path = w.url(apitest.KeyA, `{"kind": "schedule", "id": 9001}`)
	w.Call(apitest.KeyA, "/schedule/delete", `{"schedule_ids": [9001]}`).Into(&struct{}{})
	gone("of a schedule that was deleted", path)
}

// The address is shown once, and its secret is neither stored nor recorded.
func TestSecretIsNowhere(t *testing.T) {
	w := start(t)
	_, path := w.url(apitest.KeyA, `{"kind": "person"}`)
	secret := strings.TrimSuffix(path, ".ics")
	secret = secret[len(secret)-40:]
	w.Read(func(tx *db.Tx) error {
		stored, err := db.All(tx, db.Column[string], `SELECT feed_id || secret_hash || history FROM ical_feed UNION ALL
			SELECT operation || body FROM audit_log`)
		if err != nil {
			return err
		}
		if len(stored) < 2 || strings.Contains(strings.Join(stored, " "), secret) {
			t.Errorf("stored: %q", stored)
		}
		return nil
	})
	if r := w.Call(apitest.KeyA, "/schedule/calendar/list", `{}`); strings.Contains(string(r.Body), secret) {
		t.Error("the list shows the secret")
	}
}

// golden compares the replies of the operations with those of the reference, and returns an address that was not revoked.
func golden(t *testing.T, w world) (left string) {
	t.Helper()
	feed, _ := w.url(apitest.KeyA, `{"kind": "schedule", "id": 9001}`)
	hide := []string{feed, "69db2f72a0fe7db6448b1506"}
	reply := w.Call(apitest.KeyA, "/schedule/calendar/list", `{}`)
	apitest.Golden(t, "schedule_calendar_list", reply.Body, hide...)
	reply = w.Call(apitest.KeyA, "/schedule/calendar/revoke", `{"feed_id": "`+feed+`"}`)
	apitest.Golden(t, "schedule_calendar_revoke", reply.Body, hide...)
	reply = w.Call(apitest.KeyA, "/schedule/calendar/url", `{"kind": "schedule", "id": 9001}`)
	var made schedulefeed.Created
	reply.Into(&made)
	apitest.Golden(t, "schedule_calendar_url", reply.Body, made.FeedID, "69db2f72a0fe7db6448b1506", made.URL, "https://tocsin.example.com/calendar/feed/AAAA.ics")
	return made.FeedID
}

func TestOperations(t *testing.T) {
	w := start(t)
	w.load(9001, "Production", A, B)
	w.Grant(auth.SchedulesRead)
	feed := golden(t, w)
	w.Scenarios(t, "/schedule/calendar/url", []apitest.Scenario{
		{Name: "unknown kind", Body: `{"kind": "room", "id": 1}`, Code: "InvalidParameter", Says: []string{"kind"}},
		{Name: "unknown schedule", Body: `{"kind": "schedule", "id": 42}`, Code: "ResourceNotFound", Says: []string{"schedule", "42"}},
		{Name: "unknown team", Body: `{"kind": "team", "id": 42}`, Code: "ResourceNotFound", Says: []string{"team", "42"}},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"kind": "schedule", "id": 9001}`, Code: "ResourceNotFound"},
		{Name: "unknown zone", Body: `{"kind": "person", "time_zone": "Mars/Base"}`, Code: "InvalidParameter", Says: []string{"time_zone", "Mars/Base"}},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{"kind": "person"}`, Code: "AccessDenied"},
	})
	w.Scenarios(t, "/schedule/calendar/revoke", []apitest.Scenario{
		{Name: "another person's", Key: apitest.KeyReader, Body: `{"feed_id": "` + feed + `"}`, Code: "ResourceNotFound"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"feed_id": "` + feed + `"}`, Code: "ResourceNotFound"},
		{Name: "not an id", Body: `{"feed_id": "x"}`, Code: "InvalidParameter"},
	})
	var listed schedulefeed.Listed
	w.Call(apitest.KeyReader, "/schedule/calendar/list", `{}`).Into(&listed)
	if listed.Total != 0 {
		t.Errorf("a reader sees %+v", listed)
	}
	w.Call(apitest.KeyB, "/schedule/calendar/list", `{}`).Into(&listed)
	if listed.Total != 0 {
		t.Errorf("another account sees %+v", listed)
	}
	for range 49 {
		w.url(apitest.KeyA, `{"kind": "person"}`)
	}
	if r := w.Call(apitest.KeyA, "/schedule/calendar/url", `{"kind": "person"}`); r.Code != "InvalidParameter" {
		t.Errorf("the 51st: %s", r.Body)
	}
}

// A program that asks too often has to wait, and guesses do not keep others out.
func TestLimits(t *testing.T) {
	w := start(t)
	_, path := w.url(apitest.KeyA, `{"kind": "person"}`)
	limited := false
	for range 70 {
		reply, _ := w.get("GET", path)
		limited = limited || reply.StatusCode == 429 && reply.Header.Get("Retry-After") != ""
	}
	if !limited {
		t.Error("70 reads in a moment are answered")
	}
	limited = false
	for range 70 {
		reply, _ := w.get("GET", "/calendar/feed/x.ics")
		limited = limited || reply.StatusCode == 429
	}
	if !limited {
		t.Error("70 guesses in a moment are answered")
	}
	w.Clock.Add(time.Minute)
	if reply, _ := w.get("GET", path); reply.StatusCode != 200 {
		t.Errorf("a minute later: %d", reply.StatusCode)
	}
}

// What a refresh costs, beside a reply that is always the same.
func BenchmarkRefresh(b *testing.B) {
	w := start(b)
	w.load(9001, "Production", A, B)
	_, path := w.url(apitest.KeyA, `{"kind": "schedule", "id": 9001}`)
	w.get("GET", path)
	constant := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "ok") }))
	defer constant.Close()
	for name, url := range map[string]string{"feed": w.feeds + path, "changed configuration": w.feeds + path, "constant": constant.URL} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if name == "changed configuration" {
					b.StopTimer()
					w.Exec(`UPDATE account SET revision = revision + 1 WHERE account_id = $1`, apitest.AccountA)
					b.StartTimer()
				}
				w.Clock.Add(2 * time.Second)
				reply, err := http.Get(url)
				if err != nil || reply.StatusCode != 200 {
					b.Fatal(err, reply)
				}
				io.Copy(io.Discard, reply.Body) //nolint:errcheck // the time counts
				reply.Body.Close()
			}
		})
	}
}
