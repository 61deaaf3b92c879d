// Package preference keeps how people want to be told: over which ways, by the severity of what happened, and
// when they are to be left in peace.
//
// It must never decide that somebody is not told at all: quiet hours put off, and a person without a way that
// works gets an e-mail.
package preference

import (
	"strconv"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Preference is how one person wants to be told.
type Preference struct {
	PersonID   int64             `json:"person_id" doc:"The person."`
	Trigger    Trigger           `json:"trigger_notify" doc:"Ways to tell of incidents, by severity."`
	Shift      Shift             `json:"shedule_shift_notify" doc:"Ways to tell of turns on call; spelled as clients know it."`
	StatusPage StatusPage        `json:"status_page_notify" doc:"Kept for clients that send it."`
	QuietHours []Quiet           `json:"quiet_hours,omitzero" maxItems:"20" doc:"When notices wait, but those of some severities."`
	Contacts   map[string]string `json:"contacts,omitzero" doc:"Where the person is reached over ways that the account does not know: ntfy (a topic's URL), telegram (bot token, slash, chat id), slack, discord, teams and so on (an incoming webhook's URL)."`
	UpdatedAt  int64             `json:"updated_at,omitzero" doc:"Unix seconds."`
}

// Trigger lists ways by severity, all of which are used at once. An empty list stands for e-mail.
type Trigger struct {
	Critical []string `json:"critical" maxItems:"20" maxLength:"64" doc:"email, sms, voice, a way of contacts, or the direct message of an app: its type and integration, such as slack_app:6113996590131."`
	Warning  []string `json:"warning" maxItems:"20" maxLength:"64" doc:"Likewise."`
	Info     []string `json:"info" maxItems:"20" maxLength:"64" doc:"Likewise."`
}

// Shift lists ways to tell of turns.
type Shift struct {
	PersonalChannels []string `json:"personal_channels" maxItems:"20" maxLength:"64" doc:"email, sms, a way of contacts, or the direct message of an app, such as slack_app:6113996590131."`
}

// StatusPage is kept as sent.
type StatusPage struct {
	IMIntegrations []string `json:"im_integrations" maxItems:"20" maxLength:"64" doc:"Kept as sent."`
}

// Quiet is a time of day in which notices wait.
type Quiet struct {
	Start  string   `json:"start" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"HH:MM" doc:"First minute, in the time zone of the person, else of the account."`
	End    string   `json:"end" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"HH:MM" doc:"First minute after; 23:59 is the day's end; before start: on the next day."`
	Repeat []int    `json:"repeat,omitzero" maxItems:"7" minimum:"0" maximum:"6" doc:"Days on which it begins, 0 is Sunday; empty: every day."`
	But    []string `json:"but,omitzero" enum:"Critical,Warning,Info" maxItems:"3" doc:"Severities that come through; empty: Critical."`
}

// Kind is how preferences are kept: one for each person, by its id.
var Kind = configstore.Kind[Preference]{
	Name: configstore.Preference, Section: "preferences",
	Head: func(p *Preference) configstore.Head {
		return configstore.Head{ID: strconv.FormatInt(p.PersonID, 10), Name: "preference of person " + strconv.FormatInt(p.PersonID, 10),
			Creator: p.PersonID, UpdatedAt: p.UpdatedAt}
	},
	Secrets: func(p *Preference, fn func(place, text string) (string, error)) (err error) {
		all := map[string]string{}
		for method, contact := range p.Contacts {
			if all[method], err = fn("contacts/"+method, contact); err != nil {
				return err
			}
		}
		if p.Contacts != nil {
			p.Contacts = all
		}
		return nil
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, _ int64, p *Preference) error {
		return configstore.FirstError(at.AtLeast("person_id", p.PersonID, 1), p.check(at))
	},
}

func (p *Preference) check(at configstore.RecordPath) error {
	for i, q := range p.QuietHours {
		at := at.Element("quiet_hours", i)
		_, startOK := minuteOf(q.Start)
		_, endOK := minuteOf(q.End)
		switch {
		case !startOK:
			return at.Invalid("start", "must be HH:MM, got %q", q.Start)
		case !endOK || q.End == q.Start:
			return at.Invalid("end", "must be HH:MM and differ from start, got %q", q.End)
		}
		for j, severity := range q.But { // a misspelt one would let nothing through
			if err := at.Element("but", j).OneOf("", severity, "Critical", "Warning", "Info"); err != nil {
				return err
			}
		}
		for j, day := range q.Repeat {
			if day < 0 || day > 6 {
				return at.Element("repeat", j).Invalid("", "must be from 0 to 6, got %d", day)
			}
		}
	}
	if len(p.Contacts) > 20 {
		return at.Invalid("contacts", "must be at most 20, got %d", len(p.Contacts))
	}
	return nil
}

// Of is the preference of a person; one who never said anything prefers e-mail. Contacts stay sealed.
func Of(tx *db.Tx, account, person int64) (Preference, error) {
	p, found, err := Kind.Find(tx, account, strconv.FormatInt(person, 10))
	if !found {
		p = Preference{PersonID: person}
	}
	return p, err
}

// Methods are those over which the person wants to be told of something of a severity.
func (p Preference) Methods(severity string) []string {
	methods := p.Trigger.Info
	switch severity {
	case "Critical":
		methods = p.Trigger.Critical
	case "Warning":
		methods = p.Trigger.Warning
	}
	if len(methods) == 0 {
		return []string{"email"}
	}
	return methods
}

// QuietUntil is when the quiet hours end in which a moment lies, as the clock on the person's wall shows it, and those
// that follow without a gap, within a week; zero: it lies in none, or something of this severity comes through.
func (p Preference) QuietUntil(severity string, now time.Time, zone string) (until time.Time) {
	place, err := time.LoadLocation(zone)
	if err != nil || zone == "" {
		place = time.UTC
	}
	for next := now; next.Before(now.AddDate(0, 0, 6)); {
		if next = p.quietUntil(severity, next, place); next.IsZero() {
			break
		}
		until = next
	}
	return until
}

func (p Preference) quietUntil(severity string, now time.Time, place *time.Location) time.Time {
	wall := now.In(place)
	for _, q := range p.QuietHours {
		if q.through(severity) {
			continue
		}
		start, _ := minuteOf(q.Start)
		end, _ := minuteOf(q.End)
		if end == dayEnd-1 {
			end = dayEnd
		}
		for back := range 2 { // begun today, or yesterday and still going on
			day := wall.AddDate(0, 0, -back)
			if !q.on(day.Weekday()) {
				continue
			}
			from := time.Date(day.Year(), day.Month(), day.Day(), 0, start, 0, 0, place)
			last := day
			if end < start {
				last = day.AddDate(0, 0, 1)
			}
			until := time.Date(last.Year(), last.Month(), last.Day(), 0, end, 0, 0, place)
			if !now.Before(from) && now.Before(until) {
				return until
			}
		}
	}
	return time.Time{}
}

const dayEnd = 24 * 60 // minutes

func (q Quiet) through(severity string) bool {
	if len(q.But) == 0 {
		return severity == "Critical"
	}
	for _, s := range q.But {
		if s == severity {
			return true
		}
	}
	return false
}

func (q Quiet) on(day time.Weekday) bool {
	for _, d := range q.Repeat {
		if d == int(day) {
			return true
		}
	}
	return len(q.Repeat) == 0
}

func minuteOf(clock string) (int, bool) {
	t, err := time.Parse("15:04", clock)
	return 60*t.Hour() + t.Minute(), err == nil && len(clock) == len("15:04")
}
