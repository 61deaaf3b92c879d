package preference

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
)

// Preference is how one person wants to be notified.
type Preference struct {
	PersonID   int64             `json:"person_id" doc:"The person."`
	Trigger    Trigger           `json:"trigger_notify" doc:"Methods of notification about incidents, by severity."`
	Shift      Shift             `json:"shedule_shift_notify" doc:"Methods of notification about shifts; spelled as clients know it."`
	StatusPage StatusPage        `json:"status_page_notify" doc:"Stored for clients that send it."`
	QuietHours []Quiet           `json:"quiet_hours,omitzero" maxItems:"20" doc:"When notifications wait, except those of some severities."`
	Contacts   map[string]string `json:"contacts,omitzero" maxProperties:"50" maxLength:"2048" doc:"The person's addresses for methods that the account does not configure: ntfy (a topic's URL), telegram (bot token, slash, chat id), slack, discord, teams and so on (an incoming webhook's URL)."`
	UpdatedAt  int64             `json:"updated_at,omitzero" doc:"Unix seconds."`
}

// Trigger lists methods by severity; all of them are used at once. An empty list means e-mail.
type Trigger struct {
	Critical []string `json:"critical" maxItems:"20" maxLength:"64" doc:"email, sms, voice, push (the browsers of /person/push/list), a method of contacts, or the direct message of an app: its type and integration, such as slack_app:6113996590131."`
	Warning  []string `json:"warning" maxItems:"20" maxLength:"64" doc:"Likewise."`
	Info     []string `json:"info" maxItems:"20" maxLength:"64" doc:"Likewise."`
}

// Shift lists the methods of notification about shifts.
type Shift struct {
	PersonalChannels []string `json:"personal_channels" maxItems:"20" maxLength:"64" doc:"email, sms, push, a method of contacts, or the direct message of an app, such as slack_app:6113996590131."`
}

// StatusPage is stored as sent, without effect.
type StatusPage struct {
	IMIntegrations []string `json:"im_integrations" maxItems:"20" maxLength:"64" doc:"Stored as sent."`
}

// Quiet is one period of quiet hours: a time of day in which notifications wait.
type Quiet struct {
	Start  string   `json:"start" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"HH:MM" doc:"First minute, in the time zone of the person, else of the account."`
	End    string   `json:"end" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"HH:MM" doc:"First minute after; 23:59 is the day's end; before start: on the next day."`
	Repeat []int    `json:"repeat,omitzero" maxItems:"7" minimum:"0" maximum:"6" doc:"Days on which it begins, 0 is Sunday; empty: every day."`
	But    []string `json:"but,omitzero" enum:"Critical,Warning,Info" maxItems:"3" doc:"Severities that come through; empty: Critical."`
}

// Kind describes preferences to the configuration store: one for each person, under the person's id.
var Kind = configstore.Kind[Preference]{
	Name: configstore.Preference, Section: "preferences",
	Head: func(p *Preference) configstore.Head {
		return configstore.Head{ID: strconv.FormatInt(p.PersonID, 10), Name: "preference of person " + strconv.FormatInt(p.PersonID, 10),
			Creator: p.PersonID, UpdatedAt: p.UpdatedAt}
	},
	Secrets: func(p *Preference, fn func(name, text string) (string, error)) (err error) {
		all := map[string]string{}
		for method, contact := range p.Contacts {
			all[method], err = fn("contacts/"+method, contact)
			if err != nil {
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

// check returns fault.Invalid for invalid quiet hours, too many contacts or a method that does not exist.
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
		for j, severity := range q.But { // an unknown severity would let nothing through
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
	var err error
	p.methods(func(list string, i int, method string) {
		if wrong := sender.CheckMethod(method); wrong != "" && err == nil {
			err = at.Element(list, i).Invalid("", "%s", wrong)
		}
	})
	return err
}

// Of returns the preference of a person, with sealed contacts. A person without a stored preference gets e-mail.
func Of(tx *db.Tx, account, person int64) (Preference, error) {
	p, err := configstore.Once(tx, account, preferenceKey{person}, func() (Preference, error) {
		p, found, err := Kind.Find(tx, account, strconv.FormatInt(person, 10))
		if !found {
			p = Preference{PersonID: person}
		}
		return p, err
	})
	p.Contacts = maps.Clone(p.Contacts) // Kind.Open opens them in place
	return p, err
}

// preferenceKey is under which a transaction keeps the preference of a person.
type preferenceKey struct{ person int64 }

// Methods returns the methods of notification for a severity.
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

// HoldsCritical reports whether quiet hours delay Critical notifications.
func (p Preference) HoldsCritical() bool {
	return slices.ContainsFunc(p.QuietHours, func(q Quiet) bool { return !q.letsThrough("Critical") })
}

// QuietUntil returns when the quiet hours at now end, in the given time zone. Quiet hours that follow without a gap count
// as one, for at most a week. Zero: there are none at now, or notifications of this severity are sent in them.
func (p Preference) QuietUntil(severity string, now time.Time, zone string) (until time.Time) {
	location, err := time.LoadLocation(zone)
	if err != nil || zone == "" {
		location = time.UTC
	}
	for next := now; next.Before(now.AddDate(0, 0, 6)); {
		next = p.quietUntil(severity, next, location)
		if next.IsZero() {
			break
		}
		until = next
	}
	return until
}

// quietUntil returns the end of one period of quiet hours that contains now; zero: none.
func (p Preference) quietUntil(severity string, now time.Time, location *time.Location) time.Time {
	wall := now.In(location)
	for _, q := range p.QuietHours {
		if q.letsThrough(severity) {
			continue
		}
		start, _ := minuteOf(q.Start)
		end, _ := minuteOf(q.End)
		if end == dayEnd-1 {
			end = dayEnd
		}
		for back := range 2 { // started today, or yesterday and not over yet
			day := wall.AddDate(0, 0, -back)
			if !q.on(day.Weekday()) {
				continue
			}
			from := time.Date(day.Year(), day.Month(), day.Day(), 0, start, 0, 0, location)
			last := day
			if end < start {
				last = day.AddDate(0, 0, 1)
			}
			until := time.Date(last.Year(), last.Month(), last.Day(), 0, end, 0, 0, location)
			if !now.Before(from) && now.Before(until) {
				return until
			}
		}
	}
	return time.Time{}
}

const dayEnd = 24 * 60 // minutes

// letsThrough reports whether notifications of a severity are sent in the quiet hours.
func (q Quiet) letsThrough(severity string) bool {
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

// on reports whether the quiet hours start on a weekday.
func (q Quiet) on(day time.Weekday) bool {
	for _, d := range q.Repeat {
		if d == int(day) {
			return true
		}
	}
	return len(q.Repeat) == 0
}

// minuteOf returns the minute of the day of HH:MM, and whether the text is valid.
func minuteOf(clock string) (int, bool) {
	t, err := time.Parse("15:04", clock)
	return 60*t.Hour() + t.Minute(), err == nil && len(clock) == len("15:04")
}
