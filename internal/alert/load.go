package alert

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
)

// Load checks the records of an account file's alerts and inserts them. It reads either name of an integration's
// member, the newer name first. Of an incident and of a channel it stores only the id: their names are read when an
// alert is shown. Neither has to exist, because alerts outlive both. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Alert) error {
	for i, a := range records {
		at := configstore.PathOf("alerts", i)
		a.normalise()
		if err := a.check(at, account); err != nil {
			return err
		}
		n, err := a.insert(tx, account)
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("alert_id", a.AlertID)
		}
	}
	return nil
}

// mutedFlapping is how older versions wrote an alert that they muted because it changed too often.
const mutedFlapping = "flapping"

// normalise moves the members of older names to the newer names. Ids are stored in lower case.
func (a *Alert) normalise() {
	a.AlertID = strings.ToLower(a.AlertID)
	a.IntegrationID = cmp.Or(a.IntegrationID, a.DataSourceID)
	a.IntegrationName = cmp.Or(a.IntegrationName, a.DataSourceName)
	a.IntegrationType = cmp.Or(a.IntegrationType, a.DataSourceType)
	a.IntegrationRefID = cmp.Or(a.IntegrationRefID, a.DataSourceRefID)
}

func (a *Alert) check(at configstore.RecordPath, account int64) error {
	severities := []string{"Critical", "Warning", "Info", "Ok"}
	if err := configstore.FirstError(
		at.Account(a.AccountID, account),
		at.Object("alert_id", a.AlertID),
		at.AtLeast("integration_id", a.IntegrationID, 0),
		at.AtLeast("channel_id", a.ChannelID, 0),
		at.OneOf("alert_severity", a.AlertSeverity, severities...),
		at.OneOf("alert_status", a.AlertStatus, severities...),
		at.AtLeast("start_time", a.StartTime, 0),
		at.AtLeast("last_time", a.LastTime, 0),
		at.AtLeast("end_time", a.EndTime, 0),
		at.AtLeast("event_cnt", a.EventCnt, 0),
		at.Length("group_key", a.GroupKey, 0, event.MaxGroupKey),
		at.AtLeast("created_at", a.CreatedAt, 0),
		at.AtLeast("updated_at", a.UpdatedAt, 0),
		at.AtLeast("deleted_at", a.DeletedAt, 0),
		at.OneOf("muted", a.Muted, "", string(decide.Silenced), string(decide.Inhibited), string(decide.Disabled), mutedFlapping),
		at.AtLeast("muted_until", a.MutedUntil, min(int64(len(a.Muted)), 1)), // a muted alert is decided again at a time
		at.AtLeast("flapping_until", a.FlappingUntil, 0),
	); err != nil {
		return err
	}
	for i, name := range a.Identifying {
		if name == "" || strings.Contains(name, ",") {
			return at.Element("identifying_labels", i).Invalid("", "must be the name of a label without a comma, got %q", name)
		}
	}
	for i, image := range a.Images {
		if image.Src == "" {
			return at.Element("images", i).Invalid("src", "is required")
		}
	}
	if a.Incident != nil {
		return at.Object("incident.incident_id", a.Incident.IncidentID)
	}
	return nil
}

// insert stores the alert and returns 1, or 0 if the account has an alert of this id already.
func (a *Alert) insert(tx *db.Tx, account int64) (int64, error) {
	labels, err := json.Marshal(a.Labels)
	if err != nil {
		return 0, err
	}
	images, err := json.Marshal(a.Images)
	if err != nil {
		return 0, err
	}
	incident := ""
	if a.Incident != nil {
		incident = strings.ToLower(a.Incident.IncidentID)
	}
	if a.Muted == mutedFlapping {
		a.MutedUntil = 1 // due immediately
	}
	if a.FlappingUntil > 0 && a.EndTime > 0 {
		a.FlappingUntil = 0
	} else if a.MutedUntil == 0 {
		a.MutedUntil = a.FlappingUntil // the alert must be decided again, else it might never end
	}
	return tx.Exec(`INSERT INTO alert (`+columns+`, name_folded)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
			$21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33) ON CONFLICT DO NOTHING`,
		a.AlertID, a.IntegrationID, a.ChannelID, account, a.Title, a.TitleRule, a.Description, a.AlertKey, a.AlertSeverity, a.AlertStatus,
		a.StartTime, a.LastTime, a.EndTime, a.EventCnt, string(labels), string(images), a.EverMuted, a.CreatedAt, a.UpdatedAt, a.DeletedAt,
		a.IntegrationName, a.IntegrationType, a.IntegrationRefID, a.ResponderName, a.ResponderEmail,
		incident, a.Muted, a.MutedBy, a.MutedUntil, a.GroupKey, a.FlappingUntil,
		strings.Join(a.Identifying, ","), searchName(a.Title, a.Labels))
}

// Dump returns all alerts of an account, with deleted ones, ordered by id, as replies show them.
func Dump(tx *db.Tx, account int64) ([]Alert, error) {
	channels, err := channel.Dump(tx, account)
	if err != nil {
		return nil, err
	}
	byID := map[int64]channel.Channel{}
	for _, ch := range channels {
		byID[ch.ChannelID] = ch
	}
	alerts, err := db.All(tx, scanAlert, selection+` WHERE account_id = $1 ORDER BY alert_id`, account)
	for i := range alerts {
		alerts[i].in(byID[alerts[i].ChannelID])
		if in := alerts[i].Incident; in != nil {
			in.channel = 0 // a file does not have it
		}
	}
	return alerts, err
}
