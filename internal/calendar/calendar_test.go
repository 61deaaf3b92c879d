package calendar_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

func TestConversationCalendar(t *testing.T) {
	s := apitest.Start(t, calendar.Ops())
	whole := `{"account_id":2451002751131,"team_id":4291079133131,"cal_id":"$id","cal_name":"Büro Berlin","description":"","timezone":"Europe/Berlin","kind":"personal",
		"workdays":[5,1,2,3,4],"extra_cal_ids":[],"created_at":1776052800,"updated_at":1776052800,"creator_id":2476123212131,"updated_by":2476123212131,"status":"enabled"}`
	s.Converse(t, []apitest.Turn{
		{Path: "/calendar/create", Body: `{"cal_name":"B","timezone":"Mars/Base"}`, Code: "InvalidParameter", Says: []string{"timezone", "Mars/Base"}},
		{Path: "/calendar/create", Body: `{"cal_name":"B","workdays":[7]}`, Code: "InvalidParameter", Says: []string{"workdays", "6"}},
		{Path: "/calendar/create", Body: `{"cal_name":"B","workdays":[1,1]}`, Code: "InvalidParameter", Says: []string{"workdays[1]"}},
		{Path: "/calendar/create", Body: `{"cal_name":"B","extra_cal_ids":["cal.no"]}`, Code: "InvalidParameter", Says: []string{"extra_cal_ids[0]", "cal.no"}},
		{Path: "/calendar/create", Body: `{"cal_name":"Berlin","timezone":"Europe/Berlin","workdays":[5,1,2,3,4]}`, Keep: map[string]string{"id": "cal_id"}, Golden: "calendar_create"},
		{Path: "/calendar/list", Body: `{}`, Has: `{"total":1,"items":[{"cal_id":"$id"}]}`, Golden: "calendar_list"},
		{Path: "/calendar/create", Body: `{"cal_name":"Shanghai","extra_cal_ids":["$id"]}`, Keep: map[string]string{"other": "cal_id"}},
		{Path: "/calendar/info", Body: `{"cal_id":"$other"}`, Has: `{"timezone":"Asia/Shanghai","workdays":[],"extra_cal_ids":["$id"]}`},
		{Path: "/calendar/update", Body: `{"cal_id":"$id","cal_name":"Büro Berlin","team_id":4291079133131}`, Data: `{}`, Golden: "calendar_update"},
		{Path: "/calendar/update", Body: `{"cal_id":"$id","extra_cal_ids":["$id"]}`, Code: "InvalidParameter", Says: []string{"extra_cal_ids[0]"}},
		{Path: "/calendar/info", Body: `{"cal_id":"$id"}`, Data: whole, Golden: "calendar_info"},
		{Path: "/calendar/list", Body: `{}`, Has: `{"total":2,"items":[{},{}]}`},
		{Path: "/calendar/list", Body: `{"kind":"region.official.holiday"}`, Data: `{"items":[],"total":0}`},
		{Path: "/calendar/list", Key: apitest.KeyB, Body: `{}`, Data: `{"items":[],"total":0}`},
		{Path: "/calendar/event/upsert", Body: `{"cal_id":"$id","summary":"May","start_at":"2026-05-01","end_at":"2026-05-01","is_off":true}`, Code: "InvalidParameter", Says: []string{"end_at", "1 to 366"}},
		{Path: "/calendar/event/upsert", Body: `{"cal_id":"$id","summary":"May","start_at":"2026-5-1","end_at":"2026-05-02","is_off":true}`, Code: "InvalidParameter", Says: []string{"start_at", "YYYY-MM-DD"}},
		{Path: "/calendar/event/upsert", Body: `{"cal_id":"$id","summary":"Labour Day","start_at":"2026-05-01","end_at":"2026-05-02","is_off":true}`, Keep: map[string]string{"event": "event_id"}, Golden: "calendar_event_upsert"},
		{Path: "/calendar/event/upsert", Body: `{"cal_id":"$id","event_id":"$event","summary":"Labour Days","start_at":"2026-04-30","end_at":"2026-05-02","is_off":true}`, Data: `{"cal_id":"$id","event_id":"$event","summary":"Labour Days"}`},
		{Path: "/calendar/event/upsert", Body: `{"cal_id":"$other","event_id":"$event","summary":"x","start_at":"2026-04-30","end_at":"2026-05-02","is_off":true}`, Code: "ResourceNotFound"},
		{Path: "/calendar/event/list", Body: `{"cal_id":"$id"}`, Has: `{"total":1,"items":[{"event_id":"$event","start_at":"2026-04-30"}]}`, Golden: "calendar_event_list"},
		{Path: "/calendar/event/list", Body: `{"cal_id":"$id","year":2026,"month":4}`, Has: `{"total":1}`},
		{Path: "/calendar/event/list", Body: `{"cal_id":"$id","year":2026,"month":5,"day":1}`, Has: `{"total":1}`},
		{Path: "/calendar/event/list", Body: `{"cal_id":"$id","year":2026,"month":5,"day":2}`, Has: `{"total":0}`},
		{Path: "/calendar/event/list", Body: `{"cal_id":"$id","year":2027}`, Has: `{"total":0}`},
		{Path: "/calendar/event/list", Body: `{"cal_id":"$id","day":2}`, Code: "InvalidParameter", Says: []string{"month"}},
		{Path: "/calendar/event/delete", Body: `{"cal_id":"$other","event_id":"$event"}`, Code: "ResourceNotFound"},
		{Path: "/calendar/event/delete", Body: `{"cal_id":"$id","event_id":"$event"}`, Data: `{}`, Golden: "calendar_event_delete"},
		{Path: "/calendar/event/delete", Body: `{"cal_id":"$id","event_id":"$event"}`, Code: "ResourceNotFound"},
		{Path: "/calendar/delete", Body: `{"cal_id":"$id"}`, Code: "ReferenceExist", Data: `{"refs":[{"kind":"calendar","id":"$other","name":"Shanghai"}]}`},
		{Path: "/calendar/delete", Body: `{"cal_id":"$other","dry_run":true}`, Has: `{"allowed":true,"removes":[{"kind":"calendar","id":"$other"}]}`},
		{Path: "/calendar/delete", Key: apitest.KeyB, Body: `{"cal_id":"$other"}`, Code: "ResourceNotFound"},
		{Path: "/calendar/delete", Body: `{"cal_id":"$other"}`, Data: `{}`, Golden: "calendar_delete"},
		{Path: "/calendar/delete", Body: `{"cal_id":"$id"}`, Data: `{}`},
		{Path: "/calendar/info", Body: `{"cal_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/calendar/update", Body: `{"cal_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/calendar/event/list", Body: `{"cal_id":"$id"}`, Code: "ResourceNotFound"},
	})
}

func TestCalendarPermissions(t *testing.T) {
	s := apitest.Start(t, calendar.Ops())
	s.Grant(auth.CalendarsRead)
	for path, body := range map[string]string{
		"/calendar/create": `{"cal_name":"x"}`, "/calendar/update": `{"cal_id":"x"}`, "/calendar/delete": `{"cal_id":"x"}`,
		"/calendar/event/upsert": `{"cal_id":"x","summary":"x","start_at":"2026-05-01","end_at":"2026-05-02","is_off":true}`, "/calendar/event/delete": `{"cal_id":"x","event_id":"x"}`,
	} {
		if r := s.Call(apitest.KeyReader, path, body); r.Code != "AccessDenied" {
			t.Errorf("%s: %s", path, r.Body)
		}
	}
	s.Call(apitest.KeyNothing, "/calendar/list", `{}`).Into(&struct{}{})
}

// TestDaysAgainstModel compares a calendar with a model that examines every event for every day.
func TestDaysAgainstModel(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Pacific/Apia", "America/Sao_Paulo", "Asia/Shanghai"}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := calendar.Calendar{CalID: "own", TimeZone: zones[r.IntN(len(zones))]}
		for day := range int64(7) {
			if r.IntN(3) > 0 {
				c.Workdays = append(c.Workdays, day)
			}
		}
		base := time.Date(2011, 12, 20, 0, 0, 0, 0, time.UTC)
		var events []calendar.Event
		for i := range r.IntN(8) {
			first := base.AddDate(0, 0, r.IntN(20))
			events = append(events, calendar.Event{CalID: []string{"own", "extra"}[r.IntN(2)], EventID: fmt.Sprint(i), Summary: fmt.Sprint(i),
				StartAt: first.Format(time.DateOnly), EndAt: first.AddDate(0, 0, 1+r.IntN(4)).Format(time.DateOnly), IsOff: r.IntN(2) == 0})
		}
		days, err := calendar.NewDays(c, events)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			at := base.Add(time.Duration(r.IntN(20*24*60)) * time.Minute)
			y, m, d := at.In(days.Zone()).Date()
			today := fmt.Sprintf("%04d-%02d-%02d", y, int(m), d)
			want, decided := true, false
			for _, whose := range []string{"own", "extra"} {
				for _, e := range events {
					if !decided && e.CalID == whose && e.StartAt <= today && today < e.EndAt {
						want, decided = e.IsOff, true
					}
				}
			}
			if !decided {
				for _, w := range c.Workdays {
					if int(w) == int(at.In(days.Zone()).Weekday()) {
						want = false
					}
				}
			}
			if got, why := days.Off(at); got != want || why == "" {
				t.Fatalf("seed %d, %s: off %v (%s), want %v: %+v %+v", seed, at.In(days.Zone()), got, why, want, c, events)
			}
		}
	}
}

func TestCalendarsOfFile(t *testing.T) {
	apitest.RoundTrip(t, calendar.Kind, []calendar.Calendar{
		{AccountID: apitest.AccountA, CalID: "cal.a", CalName: "a", TimeZone: "UTC", Kind: "personal", Workdays: []int64{1}, ExtraCalIDs: []string{"cal.b"}, Status: "enabled"},
	}, map[string]func(*calendar.Calendar){
		"cal_id":      func(c *calendar.Calendar) { c.CalID = "" },
		"timezone":    func(c *calendar.Calendar) { c.TimeZone = "x" },
		"workdays[0]": func(c *calendar.Calendar) { c.Workdays = []int64{9} },
	})
}

func TestEventsOfFile(t *testing.T) {
	s, keyring := apitest.Start(t), apitest.Box(t)
	event := calendar.Event{CalID: "cal.a", EventID: "cale.1", Summary: "x", StartAt: "2026-05-01", EndAt: "2026-05-02"}
	load := func(tx *db.Tx) error {
		return calendar.EventKind.Load(tx, keyring, apitest.AccountA, []calendar.Event{event})
	}
	if err := s.DB.Write(t.Context(), load); err == nil {
		t.Error("an event without its calendar")
	}
	s.Write(func(tx *db.Tx) error {
		cal := []calendar.Calendar{{CalID: "cal.a", CalName: "a", TimeZone: "UTC"}}
		if err := calendar.Kind.Load(tx, keyring, apitest.AccountA, cal); err != nil {
			return err
		}
		return load(tx)
	})
	s.Write(func(tx *db.Tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom(configstore.Silence, "r", "Night"), configstore.RefTo(configstore.Calendar, "cal.a"))
	})
	s.Read(func(tx *db.Tx) error {
		days, err := calendar.Load(tx, apitest.AccountA, []string{"cal.a", "", "cal.b"})
		if len(days) != 1 || days["cal.a"] == nil {
			t.Errorf("%v", days)
		}
		return err
	})
}
