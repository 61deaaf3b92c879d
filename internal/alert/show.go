package alert

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Show returns an alert as the API shows it, without a check of permissions: the caller of Show is responsible for
// who may see it. found is false when the account has no alert of this id.
func Show(tx *db.Tx, account int64, id string) (a Alert, found bool, err error) {
	a, found, err = db.One(tx, scanAlert,
		selection+` WHERE account_id = $1 AND alert_id = $2 AND deleted_at = 0`, account, id)
	if err != nil || !found {
		return a, false, err
	}
	ch, has, err := channel.Find(tx, account, a.ChannelID)
	if has {
		a.in(ch)
	}
	return a, true, err
}

// ShowAll is Show for the alerts of some domain events of an account, in few statements: each alert as it was when its event
// happened if that carries a Row, else as it is now; nil when the account has no such alert.
func ShowAll(tx *db.Tx, account int64, items []activity.Item) ([]*Alert, error) {
	if len(items) == 0 {
		return nil, nil
	}
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	all, err := db.All(tx, scanAlert,
		selection+` WHERE account_id = $1 AND alert_id IN (SELECT value FROM json_each($2)) AND deleted_at = 0`, account, db.JSON(ids))
	if err != nil {
		return nil, err
	}
	stored := make(map[string]*Alert, len(all))
	for i := range all {
		stored[all[i].AlertID] = &all[i]
	}
	shown := make([]*Alert, len(items))
	for i, item := range items {
		have := stored[item.ID]
		if have == nil {
			continue
		}
		a := *have
		if w, ok := item.Subject.(Row); ok {
			if err := a.become(tx, &w); err != nil {
				return nil, err
			}
		}
		ch, has, err := channel.Find(tx, account, a.ChannelID)
		if err != nil {
			return nil, err
		}
		if has {
			a.in(ch)
		}
		shown[i] = &a
	}
	return shown, nil
}

// become makes a stored alert what it was when it had these columns. The others do not change with its events.
func (a *Alert) become(tx *db.Tx, w *Row) error {
	a.Description = w.Description
	a.AlertSeverity = w.Severity
	a.AlertStatus = w.Status
	a.LastTime = w.Last
	a.EndTime = w.End
	a.EventCnt = w.Events
	a.EverMuted = w.EverMuted
	a.GroupKey = w.GroupKey
	a.Muted = string(w.Muted)
	a.MutedBy = w.MutedBy
	a.MutedUntil = w.MutedUntil
	a.FlappingUntil = w.FlapsUntil
	if a.EndTime > 0 {
		a.unmute()
	}
	switch {
	case w.Incident == "":
		a.Incident = nil
	case a.Incident == nil || a.Incident.IncidentID != w.Incident: // it was in another one then
		i, _, err := db.One(tx, func(scan db.Scan) (i Incident, err error) { return i, scan(&i.Title, &i.Progress, &i.channel) },
			`SELECT title, progress, channel_id FROM incident WHERE account_id = $1 AND incident_id = $2`, a.AccountID, w.Incident)
		if err != nil {
			return err
		}
		i.IncidentID = w.Incident
		a.Incident = &i
	}
	a.Labels = nil
	a.Images = nil
	a.Identifying = names(w.Identifying)
	if err := json.Unmarshal([]byte(w.Labels), &a.Labels); err != nil {
		return fault.Wrap(err, "labels of alert %s", w.ID)
	}
	return fault.Wrap(json.Unmarshal([]byte(w.Images), &a.Images), "images of alert %s", w.ID)
}
