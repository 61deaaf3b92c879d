// Package accountfile reads and writes account files: one JSON document that holds everything there is
// about an account, in the shapes that the API shows (docs/account-file.md).
//
// An import is all or nothing: it must never leave a part of a file in the database, nor accept a member
// that it does not know. An export must never hold a secret unless it is asked for.
package accountfile

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/absence"
	"tocsin/internal/alert"
	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/untold"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/enrichment"
	"tocsin/internal/field"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
	"tocsin/internal/preference"
	"tocsin/internal/role"
	"tocsin/internal/route"
	"tocsin/internal/rulefolder"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/statuspage"
	"tocsin/internal/team"
	"tocsin/internal/template"
)

// File is an account file. A section that is missing is empty.
type File struct {
	Format            Format                    `json:"format" maxLength:"60"`
	Account           person.Account            `json:"account"`
	Roles             []role.Record             `json:"roles"`
	Teams             []team.Record             `json:"teams"`
	Persons           []person.Record           `json:"persons"`
	AppKeys           []auth.KeyRecord          `json:"app_keys"`
	Calendars         []calendar.Calendar       `json:"calendars,omitempty"`
	CalendarEvents    []calendar.Event          `json:"calendar_events,omitempty"`
	Schedules         []schedule.Record         `json:"schedules"`
	ScheduleOverrides []schedule.Override       `json:"schedule_overrides,omitempty"`
	Absences          []absence.Absence         `json:"absences,omitempty"`
	Templates         []template.Template       `json:"templates,omitempty"`
	Channels          []channel.Channel         `json:"channels"`
	SilenceRules      []channel.SilenceRule     `json:"silence_rules"`
	DropRules         []channel.DropRule        `json:"drop_rules"`
	InhibitRules      []channel.InhibitRule     `json:"inhibit_rules,omitempty"`
	EscalateRules     []channel.EscalateRule    `json:"escalate_rules,omitempty"`
	Fields            []field.Field             `json:"fields,omitempty"`
	Integrations      []integration.Integration `json:"integrations,omitempty"`
	Routes            []route.Route             `json:"routes,omitempty"`
	Enrichments       []enrichment.Rules        `json:"enrichments,omitempty"`
	Preferences       []preference.Preference   `json:"preferences,omitempty"`
	Fallbacks         []untold.Fallback         `json:"fallbacks,omitempty"`
	Pipelines         []alert.Pipeline          `json:"alert_pipelines,omitempty"`
	StatusPages       []statuspage.Page         `json:"status_pages,omitempty"`
	StatusChanges     []statuspage.Change       `json:"status_page_changes,omitempty"`
	Alerts            []alert.Alert             `json:"alerts"`
	Incidents         []incident.Incident       `json:"incidents"`
	Datasources       []datasource.Record       `json:"datasources"`
	EdgeClusters      []edge.Cluster            `json:"edge_clusters,omitempty"`
	RuleFolders       []rulefolder.Folder       `json:"rule_folders,omitempty"`
	AlertRules        []alertrule.Rule          `json:"alert_rules,omitempty"`
	Applications      []rum.Application         `json:"rum_applications"`
	Issues            []rum.Issue               `json:"rum_issues"`
	Deliveries        []webhook.Delivery        `json:"webhook_deliveries"`
}

// Format names the version of the format. It changes only when an older file could no longer be read.
type Format string

// Current is the only format there is.
const Current Format = "tocsin.account/1"

// UnmarshalJSONFrom rejects another format as soon as it is read, at the head of the file. Else the members of that
// format would be reported as mistakes.
func (f *Format) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var name string
	if err := json.UnmarshalDecode(d, &name); err != nil {
		return err
	}
	*f = Format(name)
	if *f != Current {
		return fault.Invalid("", "must be %s, got %.60q", Current, name)
	}
	return nil
}

// Read reads one account file strictly. Unknown and duplicate members, values of the wrong type, invalid UTF-8 and
// anything after the document are rejected with their path, such as schedules[3].layers[0].foo. Import checks the
// values. An account without a time zone has UTC.
func Read(r io.Reader) (*File, error) {
	f := &File{}
	if err := json.UnmarshalRead(r, f, json.RejectUnknownMembers(true)); err != nil {
		return nil, api.Unreadable(err, "the file")
	}
	if f.Format == "" {
		return nil, fault.Invalid("format", "is required: %q", Current)
	}
	if f.Account.TimeZone == "" {
		f.Account.TimeZone = "UTC"
	}
	return f, nil
}

// Write writes the file indented and with a final newline. Equal files are written as equal bytes.
func Write(w io.Writer, f *File) error {
	if err := json.MarshalWrite(w, f, jsontext.WithIndent("  "), json.Deterministic(true)); err != nil {
		return fmt.Errorf("write the account file: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}
