package incident

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/alert"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// View is an incident as the API shows it.
type View struct {
	IncidentID       string                    `json:"incident_id" doc:"24 hexadecimal digits."`
	AccountID        int64                     `json:"account_id" doc:"Owning account."`
	ChannelID        int64                     `json:"channel_id" doc:"The channel it belongs to; 0: none."`
	IntegrationID    int64                     `json:"integration_id" doc:"Where its first alert came from; 0: it was made by hand."`
	IntegrationIDs   []int64                   `json:"integration_ids" doc:"Where its alerts came from."`
	IntegrationTypes []string                  `json:"integration_types" doc:"Their types."`
	DataSourceID     int64                     `json:"data_source_id" deprecated:"true" doc:"Older name of integration_id."`
	DedupKey         string                    `json:"dedup_key" doc:"The key of its first alert."`
	EqualsMD5        string                    `json:"equals_md5" doc:"What its alerts have in common; empty: no alert joins it automatically."`
	StartTime        int64                     `json:"start_time" doc:"Unix seconds, as all times here."`
	EndTime          int64                     `json:"end_time" doc:"Its end, or when it was merged into another; 0: it goes on."`
	LastTime         int64                     `json:"last_time" doc:"When its latest alert joined."`
	AckTime          int64                     `json:"ack_time" doc:"When it was first acknowledged; 0: not yet."`
	CloseTime        int64                     `json:"close_time" doc:"When it was closed; 0: it is open."`
	CreatorID        int64                     `json:"creator_id" doc:"Who made it; 0: Tocsin itself."`
	CloserID         int64                     `json:"closer_id" doc:"Who closed it; 0: Tocsin itself, or it is open."`
	OwnerID          int64                     `json:"owner_id" doc:"Who leads; 0: no person was named."`
	IncidentStatus   string                    `json:"incident_status" enum:"Critical,Warning,Info,Ok" doc:"Its severity, and Ok when it is closed. One that was merged into another keeps its severity."`
	IncidentSeverity string                    `json:"incident_severity" enum:"Critical,Warning,Info,Ok" doc:"The highest of its alerts, unless a person set it."`
	Progress         string                    `json:"progress" enum:"Triggered,Processing,Closed" doc:"Triggered until a person acknowledges it, then Processing, and Closed at its end."`
	Title            string                    `json:"title" doc:"What a person or the source called it, or the title of its first alert."`
	Headline         string                    `json:"headline" doc:"What is wrong now, and in brackets where, on one line: what messages and the console call it."`
	HeadlineText     string                    `json:"headline_text,omitzero" doc:"The description of the alert that headline names; absent: it is description."`
	Description      string                    `json:"description" doc:"What it is about."`
	AISummary        string                    `json:"ai_summary" doc:"Always empty."`
	Impact           string                    `json:"impact" doc:"Whom it hurts."`
	RootCause        string                    `json:"root_cause" doc:"Why it happened."`
	Resolution       string                    `json:"resolution" doc:"What helped."`
	Num              string                    `json:"num" doc:"The end of its identifier, for people; not unique."`
	CreatedAt        int64                     `json:"created_at" doc:"When it was stored."`
	UpdatedAt        int64                     `json:"updated_at" doc:"When it was changed last."`
	SnoozedBefore    int64                     `json:"snoozed_before" doc:"No notification is sent until then; 0: it is not snoozed."`
	GroupMethod      string                    `json:"group_method" enum:"i,p,n" doc:"How its alerts came together."`
	EverMuted        bool                      `json:"ever_muted" doc:"One of its alerts was muted at some time."`
	Labels           map[string]string         `json:"labels" doc:"Of its first alert."`
	Fields           map[string]jsontext.Value `json:"fields" doc:"Values of custom fields by name."`
	AssignedTo       AssignedTo                `json:"assigned_to" doc:"The latest assignment."`
	AlertCnt         int64                     `json:"alert_cnt" doc:"How many alerts it has."`
	ActiveAlertCnt   int64                     `json:"active_alert_cnt" doc:"How many of them are not over, not even for now."`
	AlertEventCnt    int64                     `json:"alert_event_cnt" doc:"How many events they had."`
	Closer           *PersonSummary            `json:"closer,omitzero" doc:"Who closed it."`
	Creator          *PersonSummary            `json:"creator,omitzero" doc:"Who made it."`
	Owner            *PersonSummary            `json:"owner,omitzero" doc:"Who leads."`
	Responders       []Responder               `json:"responders" doc:"Who is responsible now."`
	AccountName      string                    `json:"account_name" doc:"The account's name."`
	AccountLocale    string                    `json:"account_locale" doc:"Always empty."`
	AccountTimeZone  string                    `json:"account_time_zone" doc:"The account's time zone."`
	ChannelName      string                    `json:"channel_name" doc:"The channel's name now; empty when it is gone."`
	ChannelStatus    string                    `json:"channel_status" doc:"Its status now; empty when it is gone."`
	DetailURL        string                    `json:"detail_url" doc:"Its page in the console; empty when the server does not know its public address."`
	SilenceURL       string                    `json:"silence_url" doc:"Always empty."`
	IntegrationType  string                    `json:"integration_type" doc:"The type of its first integration."`
	PostMortemID     string                    `json:"post_mortem_id" doc:"Always empty."`
	Images           []event.Image             `json:"images" doc:"Pictures of its first alert."`
	ManualOverrides  []string                  `json:"manual_overrides" doc:"Members that a person set."`
	MergedInto       string                    `json:"merged_into,omitzero" doc:"The incident it was merged into."`
	Flapping         *Flapping                 `json:"flapping,omitzero" doc:"One of its alerts changes too often: its end, and who is notified, wait for quiet; absent: none does."`
	IsTest           bool                      `json:"is_test,omitzero" doc:"A drill: nothing is wrong."`
}

// PersonSummary is a person as an incident shows one.
type PersonSummary struct {
	PersonID   int64  `json:"person_id" doc:"The person."`
	PersonName string `json:"person_name" doc:"Name for display."`
	Email      string `json:"email,omitzero" doc:"E-mail address."`
	As         string `json:"as" doc:"In which capacity."`
}

// Responder is a person who is responsible for the incident.
type Responder struct {
	PersonID       int64  `json:"person_id" doc:"The person."`
	AssignedAt     int64  `json:"assigned_at" doc:"Since when, Unix seconds."`
	AcknowledgedAt int64  `json:"acknowledged_at" doc:"When they acknowledged; 0: not."`
	PersonName     string `json:"person_name,omitzero" doc:"Name for display."`
	Email          string `json:"email,omitzero" doc:"E-mail address."`
	As             string `json:"as,omitzero" doc:"Always responder."`
}

// Show returns the view of an incident. base is the server's public address, as in PageURL.
func Show(tx *db.Tx, base string, r *Incident) (v View, err error) {
	alerts, err := alert.CountOf(tx, r.AccountID, r.IncidentID)
	if err != nil {
		return v, err
	}
	lead, err := r.Lead(tx)
	if err != nil {
		return v, err
	}
	return show(tx, base, &withAlerts{*r, alerts, lead})
}

// show returns the view of an incident whose alerts are counted.
func show(tx *db.Tx, base string, r *withAlerts) (v View, err error) {
	severity := cmp.Or(r.Severity, event.Info)
	v = View{
		IncidentID: r.IncidentID, AccountID: r.AccountID, ChannelID: r.ChannelID, IntegrationIDs: r.IntegrationIDs,
		IntegrationTypes: r.IntegrationTypes,
		DedupKey:         r.DedupKey, EqualsMD5: r.GroupKey, StartTime: r.StartTime, EndTime: r.CloseTime, LastTime: r.LastTime,
		AckTime: r.AckTime, CloseTime: r.CloseTime,
		CreatorID: r.CreatorID, CloserID: r.CloserID, OwnerID: r.OwnerID, IncidentStatus: severity, IncidentSeverity: severity,
		Progress: r.Progress,
		Title:    r.Title, Description: r.Description, Impact: r.Impact, RootCause: r.RootCause, Resolution: r.Resolution,
		Num: Num(r.IncidentID), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		SnoozedBefore: r.SnoozedBefore, GroupMethod: cmp.Or(r.GroupMethod, "n"), EverMuted: r.EverMuted, Labels: r.Labels, Fields: r.Fields,
		Images: r.Images, ManualOverrides: r.ManualOverrides,
		MergedInto: r.MergedInto, Flapping: r.Flapping, IsTest: r.Test, Responders: []Responder{},
	}
	if r.Progress == Closed && r.MergedInto == "" {
		v.IncidentStatus = event.Ok
	}
	if r.AssignedTo != nil {
		v.AssignedTo = *r.AssignedTo
	}
	if len(r.IntegrationIDs) > 0 {
		v.IntegrationID, v.DataSourceID = r.IntegrationIDs[0], r.IntegrationIDs[0]
	}
	if len(r.IntegrationTypes) > 0 {
		v.IntegrationType = r.IntegrationTypes[0]
	}
	name, text := r.named(r.lead)
	v.Headline = name
	if text != r.Description {
		v.HeadlineText = text
	}
	v.DetailURL = PageURL(base, r.IncidentID)
	v.fillEmpty()
	return v, v.lookUp(tx, r)
}

// fillEmpty replaces nil lists and maps with empty ones, because clients read them without a check for null.
func (v *View) fillEmpty() {
	if v.IntegrationIDs == nil {
		v.IntegrationIDs = []int64{}
	}
	if v.IntegrationTypes == nil {
		v.IntegrationTypes = []string{}
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
	if v.Fields == nil {
		v.Fields = map[string]jsontext.Value{}
	}
	if v.Images == nil {
		v.Images = []event.Image{}
	}
	if v.ManualOverrides == nil {
		v.ManualOverrides = []string{}
	}
}

// lookUp fills in the counts of alerts and the names of the channel, the persons and the account.
func (v *View) lookUp(tx *db.Tx, r *withAlerts) error {
	v.AlertCnt = r.alerts.Alerts
	v.ActiveAlertCnt = r.alerts.Firing()
	v.AlertEventCnt = r.alerts.Events
	ch, found, err := channel.Find(tx, r.AccountID, r.ChannelID)
	if err != nil {
		return err
	}
	if found {
		v.ChannelName, v.ChannelStatus = ch.ChannelName, ch.Status
	}
	for id, into := range map[int64]**PersonSummary{r.CreatorID: &v.Creator, r.CloserID: &v.Closer, r.OwnerID: &v.Owner} {
		if id == 0 {
			continue
		}
		*into, err = personSummary(tx, r.AccountID, id)
		if err != nil {
			return err
		}
	}
	v.Responders, err = r.responders(tx)
	if err != nil {
		return err
	}
	a, _, err := person.DumpAccount(tx, r.AccountID)
	v.AccountName, v.AccountTimeZone = a.AccountName, a.TimeZone
	return err
}

// responders returns who is responsible now, with names.
func (r *Incident) responders(tx *db.Tx) ([]Responder, error) {
	all := []Responder{}
	for _, a := range r.Assignments {
		if a.RemovedAt != 0 {
			continue
		}
		p, err := personSummary(tx, r.AccountID, a.PersonID)
		if err != nil {
			return nil, err
		}
		all = append(all, Responder{a.PersonID, a.AssignedAt, a.AcknowledgedAt, p.PersonName, p.Email, "responder"})
	}
	return all, nil
}

// personSummary returns a person of the account, with an empty name for one that does not exist.
func personSummary(tx *db.Tx, account, id int64) (*PersonSummary, error) {
	p, _, err := person.Find(tx, account, id)
	return &PersonSummary{PersonID: id, PersonName: p.PersonName, Email: p.Email, As: "member"}, err
}

// Num returns the short name of an incident for people: the last six digits of its identifier. It is not unique.
func Num(id string) string { return strings.ToUpper(id[max(0, len(id)-6):]) }

// Permit reads an incident for a caller. It returns ResourceNotFound when the account has none of this id, and
// AccessDenied when its channel is private to others.
func Permit(tx *db.Tx, who auth.Principal, id string) (r Incident, err error) {
	r, err = Writer{Tx: tx, Account: who.AccountID}.Get(id)
	if err != nil {
		return r, err
	}
	return r, r.permit(tx, who)
}

// permit returns AccessDenied when the channel of the incident is private to others.
func (r *Incident) permit(tx *db.Tx, who auth.Principal) error {
	ch, found, err := channel.Find(tx, who.AccountID, r.ChannelID)
	if err != nil || !found {
		return err
	}
	return channel.Permit(tx, who, ch)
}

// OneRequest names an incident.
type OneRequest struct {
	IncidentID string `json:"incident_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The incident."`
}
