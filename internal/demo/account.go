package demo

import (
	"bytes"
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/person"
)

const (
	accountID = 3846027150131
	timeZone  = "Europe/Berlin"
	domain    = "bergfink.example" // reserved for examples: no address in it can be reached
)

// Account returns the whole account as of now. The same now results in the same account. Identifiers are the same at
// any time, so that documents can name them.
func Account(now time.Time) *accountfile.File {
	m := momentsAt(now)
	f := withoutHistory(m)
	f.Deliveries = webhookDeliveries(m)
	return f
}

// withoutHistory returns the account without the deliveries, which are most of its records.
func withoutHistory(m moments) *accountfile.File {
	f := configured(m)
	f.Alerts = alerts(m)
	f.Incidents = incidents(m)
	f.Issues = rumIssues(m)
	return f
}

// accountFile is the configuration as an account file, with placeholders for what depends on the moment: see moments.placeholders.
//
//go:embed account.json
var accountFile string

// configured returns the configuration as of a moment.
func configured(m moments) *accountfile.File {
	var text bytes.Buffer
	page, err := template.New("account.json").Delims("<<", ">>").Funcs(m.placeholders()).Parse(accountFile)
	if err == nil {
		err = page.Execute(&text, nil)
	}
	if err != nil {
		panic(err) // the file is built into the program
	}
	f, err := accountfile.Read(&text)
	if err != nil {
		panic(err)
	}
	return f
}

// placeholders returns what stands for a moment in account.json, as Unix seconds unless another function follows.
func (m moments) placeholders() template.FuncMap {
	return template.FuncMap{
		"ago": func(text string) (int64, error) { // such as 9d or 90m before now
			d, err := span(text)
			return m.ago(d).Unix(), err
		},
		"slot": func(text string) (int64, error) { // after the half hour that has begun
			d, err := span(text)
			return m.now.Truncate(30 * time.Minute).Add(d).Unix(), err
		},
		"day": func(days, hour int) int64 { return m.day(days, hour).Unix() },
		"dayIn": func(zone string, days, hour int) int64 { // the same date in another zone
			year, month, date := m.day(days, 0).Date()
			return time.Date(year, month, date, hour, 0, 0, 0, mustZone(zone)).Unix()
		},
		"nextMonth": func() int64 { return m.nextMonth().Unix() },
		"year":      func(years int) int { return m.now.Year() + years },
		"ms":        func(seconds int64) int64 { return seconds * 1000 },
	}
}

// span returns a length of time: that of time.ParseDuration, or a number of days such as 9d.
func span(text string) (time.Duration, error) {
	days, found := strings.CutSuffix(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.Atoi(days)
	return time.Duration(n) * day, err
}

// persons returns the persons, who are the same at any moment.
var persons = sync.OnceValue(func() []person.Record { return configured(momentsAt(time.Unix(0, 0))).Persons })
