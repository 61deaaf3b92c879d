package demo

import (
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
	return &accountfile.File{
		Format:            accountfile.Current,
		Account:           person.Account{AccountID: accountID, AccountName: Name, TimeZone: timeZone, OwnerID: anna},
		Roles:             roles(),
		Teams:             teams(),
		Persons:           persons(),
		AppKeys:           appKeys(m),
		Calendars:         calendars(m),
		CalendarEvents:    holidays(m),
		Schedules:         schedules(m),
		ScheduleOverrides: overrides(m),
		Absences:          absences(m),
		Templates:         templates(m),
		Channels:          channels(m),
		EscalateRules:     escalateRules(m),
		Fields:            fields(m),
		Integrations:      integrations(m),
		Routes:            routes(m),
		Enrichments:       enrichments(m),
		Pipelines:         pipelines(m),
		SilenceRules:      silenceRules(m),
		DropRules:         dropRules(m),
		InhibitRules:      inhibitRules(m),
		StatusPages:       statusPages(m),
		StatusChanges:     statusChanges(m),
		Alerts:            alerts(m),
		Incidents:         incidents(m),
		Datasources:       datasources(m),
		RuleFolders:       ruleFolders(m),
		AlertRules:        alertRules(m),
		Applications:      rumApplications(m),
		Issues:            rumIssues(m),
	}
}
