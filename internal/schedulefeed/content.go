package schedulefeed

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/core/shiftfeed"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/schedule"
)

// text is what is sent of a feed, and what it was written from.
type text struct {
	body     []byte
	tag      string
	modified int64 // Unix seconds
	calendar shiftfeed.Calendar
}

// open returns the feed of an address, or errNoFeed: it is unknown or revoked, or its creator may no longer read schedules.
func open(tx *db.Tx, at token, now time.Time) (feed, error) {
	f, found, err := find(tx, at.account, at.feed)
	if err != nil {
		return f, err
	}
	if !at.opens(f) || !found || f.Expires != 0 && f.Expires <= now.Unix() {
		return f, errNoFeed
	}
	p, found, err := person.Find(tx, f.Account, f.Creator)
	if err != nil {
		return f, err
	}
	if !found || p.Status == "deleted" || p.Status == "pending" {
		return f, errNoFeed
	}
	may, err := auth.PersonPermissions(tx, f.Account, f.Creator)
	if err != nil {
		return f, err
	}
	if !may.Has(auth.SchedulesRead) && !may.Has(auth.SchedulesManage) {
		return f, errNoFeed
	}
	return f, nil
}

// textKey is the cache key of a feed's text on one day.
type textKey struct {
	feed string
	day  int64
}

// cached returns the text of a feed. fresh is false if its events differ from those that were sent last: then store must
// be called, so that the next text has higher sequence numbers.
func cached(tx *db.Tx, f feed, now time.Time) (t *text, fresh bool, err error) {
	return configstore.Kept(tx, f.Account, textKey{f.ID, now.Unix() / 86400}, func() (*text, bool, error) {
		t, err := build(tx, f, now)
		if err != nil {
			return nil, false, err
		}
		history, err := historyOf(tx, f)
		if err != nil {
			return nil, false, err
		}
		next, changed := history.Next(t.calendar.Events, now.Unix())
		t.calendar.History = next
		if err := t.write(f); err != nil || changed {
			return t, false, err
		}
		t.calendar = shiftfeed.Calendar{} // only the text is kept
		return t, true, nil
	})
}

// store stores that a feed's events are sent, and returns the text with their sequence numbers. It is called in a
// transaction that writes, after events were built in one that reads.
func store(tx *db.Tx, f feed, t *text, now time.Time) (*text, error) {
	history, err := historyOf(tx, f)
	if err != nil {
		return nil, err
	}
	next, _ := history.Next(t.calendar.Events, now.Unix())
	t.calendar.History = next
	document, err := json.Marshal(next, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	err = tx.Do(`UPDATE ical_feed SET history = $1 WHERE account_id = $2 AND feed_id = $3`, string(document), f.Account, f.ID)
	if err != nil {
		return nil, err
	}
	return t, t.write(f)
}

func historyOf(tx *db.Tx, f feed) (h shiftfeed.History, err error) {
	document, found, err := db.One(tx, db.Column[string], `SELECT history FROM ical_feed WHERE account_id = $1 AND feed_id = $2`, f.Account,
		f.ID)
	if err != nil || !found || document == "" {
		return h, err
	}
	if err := json.Unmarshal([]byte(document), &h); err != nil {
		return h, fault.Wrap(err, "history of calendar feed %s", f.ID)
	}
	return h, nil
}

// write writes the text.
func (t *text) write(f feed) (err error) {
	t.body, err = t.calendar.Write()
	if err != nil {
		return err
	}
	digest := sha256.Sum256(t.body)
	t.tag, t.modified = etag(digest[:]), f.CreatedAt
	for _, known := range t.calendar.History.Events {
		t.modified = max(t.modified, known.At)
	}
	return nil
}

// maxSchedules is how many schedules a feed has, the first by id.
const maxSchedules = 200

// build returns the name, the zone and the events of a feed, or errNoFeed if what it is of is gone. Days begin at
// midnight UTC, so that the window moves once a day.
func build(tx *db.Tx, f feed, now time.Time) (*text, error) {
	name, found, err := nameOf(tx, f.Account, f.Kind, f.Target)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errNoFeed
	}
	account, err := person.Zone(tx, f.Account)
	if err != nil {
		return nil, err
	}
	ids, err := schedulesOf(tx, f, account)
	if err != nil {
		return nil, err
	}
	t := &text{calendar: shiftfeed.Calendar{Name: "On call: " + name}}
	t.calendar.Zone, err = f.zone(tx, account)
	if err != nil {
		return nil, err
	}
	today := now.Unix() / 86400 * 86400
	only := int64(0)
	if f.Kind == configstore.Person {
		only = f.Target
	}
	names := map[int64]string{}
	for _, id := range ids[:min(len(ids), maxSchedules)] {
		s, err := schedule.FindShifts(tx, f.Account, id, account)
		if err != nil {
			return nil, err
		}
		if s == nil || s.Disabled && f.Kind != configstore.Schedule {
			continue
		}
		for _, shift := range shiftfeed.Shifts(s.Timeline, today-shiftfeed.Past, today+shiftfeed.Future, only) {
			e, err := event(tx, f, id, s.Name, shift, names)
			if err != nil {
				return nil, err
			}
			t.calendar.Events = append(t.calendar.Events, e)
		}
	}
	t.calendar.Events = shiftfeed.First(t.calendar.Events)
	return t, nil
}

// schedulesOf returns the schedules whose shifts a feed has.
func schedulesOf(tx *db.Tx, f feed, account *time.Location) ([]int64, error) {
	switch f.Kind {
	case configstore.Schedule:
		return []int64{f.Target}, nil
	case configstore.Person:
		return schedule.Naming(tx, f.Account, f.Target, account)
	default:
		return schedule.OfTeam(tx, f.Account, f.Target)
	}
}

// zone returns the zone of a feed: its own, else that of the schedule or person, else the account's.
func (f *feed) zone(tx *db.Tx, account *time.Location) (*time.Location, error) {
	name := f.Zone
	if name == "" && f.Kind == configstore.Person {
		p, _, err := person.Find(tx, f.Account, f.Target)
		if err != nil {
			return nil, err
		}
		name = p.TimeZone
	}
	if name == "" && f.Kind == configstore.Schedule {
		s, err := schedule.FindShifts(tx, f.Account, f.Target, account)
		if err != nil || s == nil {
			return account, err
		}
		return s.Timeline.Zone, nil
	}
	if zone, err := time.LoadLocation(name); err == nil && name != "" {
		return zone, nil
	}
	return account, nil
}

// event returns a shift as an event. names caches the names of persons.
func event(tx *db.Tx, f feed, id int64, name string, s shiftfeed.Shift, names map[int64]string) (shiftfeed.Event, error) {
	who, known := names[s.PersonID]
	if !known {
		p, found, err := person.Find(tx, f.Account, s.PersonID)
		if err != nil {
			return shiftfeed.Event{}, err
		}
		who = p.PersonName
		if !found || who == "" {
			who = fmt.Sprintf("person %d", s.PersonID)
		}
		names[s.PersonID] = who
	}
	role := schedule.RoleName(s.RoleID)
	e := shiftfeed.Event{
		UID:   fmt.Sprintf("%d-%d-%d-%d@tocsin", id, s.PersonID, s.RoleID, s.Start),
		Start: s.Start, End: s.End,
		Summary:     fmt.Sprintf("%s: %s (%s)", who, name, role),
		Description: fmt.Sprintf("%s is on call as %s in schedule %s, group %s.", who, role, name, s.Group),
	}
	if f.Kind == configstore.Person {
		e.Summary = fmt.Sprintf("On call: %s (%s)", name, role)
	}
	return e, nil
}
