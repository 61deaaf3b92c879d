package alert

import (
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Alert is the events of one alert_key, merged. All times are Unix seconds.
type Alert struct {
	AlertID          string            `json:"alert_id" maxLength:"24" doc:"24 hexadecimal digits."`
	IntegrationID    int64             `json:"integration_id" doc:"The integration that its events came through."`
	DataSourceID     int64             `json:"data_source_id" deprecated:"true" doc:"Older name of integration_id."`
	ChannelID        int64             `json:"channel_id" doc:"The channel it belongs to; 0: none."`
	AccountID        int64             `json:"account_id" doc:"Owning account."`
	Title            string            `json:"title" maxLength:"1024" doc:"What people read first."`
	TitleRule        string            `json:"title_rule" maxLength:"1024" doc:"The template of the title, such as $service::$cluster."`
	Description      string            `json:"description" maxLength:"6144" doc:"The description of the last event."`
	AlertKey         string            `json:"alert_key" maxLength:"1024" doc:"The key that its events have in common."`
	AlertSeverity    string            `json:"alert_severity" enum:"Critical,Warning,Info,Ok" doc:"The highest so far."`
	AlertStatus      string            `json:"alert_status" enum:"Critical,Warning,Info,Ok" doc:"That of the last event; Ok: recovered."`
	StartTime        int64             `json:"start_time" doc:"The first event, Unix seconds."`
	LastTime         int64             `json:"last_time" doc:"The last event, Unix seconds."`
	EndTime          int64             `json:"end_time" doc:"Its end, Unix seconds; 0: still active."`
	EventCnt         int64             `json:"event_cnt" doc:"How many events were merged into it."`
	Labels           map[string]string `json:"labels" maxProperties:"1000" maxLength:"6144" doc:"Labels of its events."`
	Identifying      []string          `json:"identifying_labels,omitempty" maxItems:"50" maxLength:"128" doc:"The names of the labels that identify it at its source; absent: the source does not name them, or the alert is older."`
	Images           []Image           `json:"images" maxItems:"1000" doc:"Pictures that came with it."`
	EverMuted        bool              `json:"ever_muted" doc:"It was silenced or inhibited at some time."`
	Muted            string            `json:"muted,omitzero" enum:"silenced,inhibited,channel_disabled,flapping" doc:"Why it notifies no one now; absent: it is not muted, or it is over. flapping: it was muted by an older version, and is decided again soon."`
	MutedBy          string            `json:"muted_by,omitzero" maxLength:"255" doc:"The silence rule, or the alert that inhibits it."`
	MutedUntil       int64             `json:"muted_until,omitzero" doc:"When it is decided again, Unix seconds."`
	FlappingUntil    int64             `json:"flapping_until,omitzero" doc:"While it changes too often: when it has been quiet for long enough unless it changes again, Unix seconds. Until then it keeps its incident, also when its status is Ok."`
	GroupKey         string            `json:"group_key,omitzero" maxLength:"255" doc:"The group that its source puts it into, such as Alertmanager's groupKey; absent: none."`
	CreatedAt        int64             `json:"created_at" doc:"Unix seconds."`
	UpdatedAt        int64             `json:"updated_at" doc:"Unix seconds."`
	DeletedAt        int64             `json:"deleted_at,omitzero" doc:"Unix seconds; never set in a reply, which omits deleted alerts."`
	IntegrationName  string            `json:"integration_name" maxLength:"255" doc:"The integration's name."`
	IntegrationType  string            `json:"integration_type" maxLength:"255" doc:"The integration's type."`
	IntegrationRefID string            `json:"integration_ref_id" maxLength:"255" doc:"The integration's reference."`
	DataSourceName   string            `json:"data_source_name" maxLength:"255" deprecated:"true" doc:"Older name of integration_name."`
	DataSourceType   string            `json:"data_source_type,omitzero" maxLength:"255" deprecated:"true" doc:"Older name of integration_type."`
	DataSourceRefID  string            `json:"data_source_ref_id" maxLength:"255" deprecated:"true" doc:"Older name of integration_ref_id."`
	ChannelName      string            `json:"channel_name" maxLength:"255" doc:"The channel's present name; empty when it was deleted."`
	ChannelStatus    string            `json:"channel_status" maxLength:"255" doc:"The channel's present status; empty when it was deleted."`
	ResponderName    string            `json:"responder_name" maxLength:"255" doc:"The first responder; may be empty."`
	ResponderEmail   string            `json:"responder_email" maxLength:"255" doc:"That person's e-mail address; may be empty."`
	Incident         *Incident         `json:"incident,omitempty" doc:"The incident it was merged into, if any."`
	Events           []Event           `json:"events,omitempty" maxItems:"10000" doc:"Its latest events, if the request asks for them."`
}

// Image is a picture that came with an alert.
type Image struct {
	Src  string `json:"src" maxLength:"4096" doc:"URL, or the token of an upload."`
	Href string `json:"href,omitzero" maxLength:"4096" doc:"The address that it links to."`
	Alt  string `json:"alt,omitzero" maxLength:"4096" doc:"What it shows, in words."`
}

// Incident is the incident of an alert, in short.
type Incident struct {
	IncidentID string `json:"incident_id" maxLength:"24" doc:"24 hexadecimal digits."`
	Title      string `json:"title" maxLength:"1024" doc:"The incident's present title; empty when it was deleted or is in a channel that the caller may not read."`
	Progress   string `json:"progress" maxLength:"16" doc:"Triggered, Processing or Closed; empty likewise."`
	channel    int64
}

// blank clears all but the identifier, for callers who may not read its channel.
func (i *Incident) blank() { i.Title, i.Progress = "", "" }

const columns = `alert_id, integration_id, channel_id, account_id, title, title_rule, description, alert_key, alert_severity, alert_status,
	start_time, last_time, end_time, event_cnt, labels, images, ever_muted, created_at, updated_at, deleted_at,
	integration_name, integration_type, integration_ref_id, responder_name, responder_email,
	incident_id, muted, muted_by, muted_until, group_key, flapping_until, identifying`

// selection selects what scanAlert scans: the alert with the present title and progress of its incident.
const selection = `SELECT ` + columns + `,
	coalesce((SELECT i.title FROM incident i WHERE i.account_id = alert.account_id AND i.incident_id = alert.incident_id), ''),
	coalesce((SELECT i.progress FROM incident i WHERE i.account_id = alert.account_id AND i.incident_id = alert.incident_id), ''),
	coalesce((SELECT i.channel_id FROM incident i WHERE i.account_id = alert.account_id AND i.incident_id = alert.incident_id), 0)
	FROM alert`

func scanAlert(scan db.Scan) (a Alert, err error) {
	var labels, images, identifying string
	var incident Incident
	if err := scan(
		&a.AlertID, &a.IntegrationID, &a.ChannelID, &a.AccountID, &a.Title, &a.TitleRule, &a.Description,
		&a.AlertKey, &a.AlertSeverity, &a.AlertStatus,
		&a.StartTime, &a.LastTime, &a.EndTime, &a.EventCnt, &labels, &images, &a.EverMuted, &a.CreatedAt, &a.UpdatedAt, &a.DeletedAt,
		&a.IntegrationName, &a.IntegrationType, &a.IntegrationRefID, &a.ResponderName, &a.ResponderEmail,
		&incident.IncidentID, &a.Muted, &a.MutedBy, &a.MutedUntil, &a.GroupKey, &a.FlappingUntil, &identifying,
		&incident.Title, &incident.Progress, &incident.channel,
	); err != nil {
		return a, err
	}
	a.DataSourceID, a.DataSourceName = a.IntegrationID, a.IntegrationName
	a.DataSourceType, a.DataSourceRefID = a.IntegrationType, a.IntegrationRefID
	if a.EndTime > 0 {
		a.unmute()
	}
	a.Identifying = names(identifying)
	if incident.IncidentID != "" {
		a.Incident = &incident
	}
	if err := json.Unmarshal([]byte(labels), &a.Labels); err != nil {
		return a, fault.Wrap(err, "labels of alert %s", a.AlertID)
	}
	return a, fault.Wrap(json.Unmarshal([]byte(images), &a.Images), "images of alert %s", a.AlertID)
}

// unmute clears the members that only an active alert has.
func (a *Alert) unmute() {
	a.Muted = ""
	a.MutedBy = ""
	a.MutedUntil = 0
	a.FlappingUntil = 0
}

// names returns the names of labels that event.Identifying has written.
func names(identifying string) []string {
	if identifying == "" {
		return nil
	}
	return strings.Split(identifying, ",")
}

// in sets the present name and status of the alert's channel.
func (a *Alert) in(ch channel.Channel) { a.ChannelName, a.ChannelStatus = ch.ChannelName, ch.Status }
