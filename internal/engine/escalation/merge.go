package escalation

import (
	"fmt"
	"slices"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/warroom"
)

// merged ends the follow-up of the source of a merge, and notifies of the merge. The target goes on with more alerts.
func (r *Service) merged(tx *db.Tx, i *incident.Incident, item activity.Item, e activity.Merged) error {
	if item.ID == e.TargetIncidentID {
		return Recheck(tx, item.Account, item.ID, item.At)
	}
	informed, err := notify.Informed(tx, i)
	if err != nil {
		return err
	}
	if err := r.finish(tx, item.Account, []string{i.IncidentID}, sentence.New("was_merged"), item.At); err != nil {
		return err
	}
	target, found, err := incident.Find(tx, item.Account, e.TargetIncidentID)
	if err != nil || !found {
		return err
	}
	if event.Rank(i.Severity) > event.Rank(target.Severity) { // the target's row is stored after the rows of the sources
		target.Severity = i.Severity
	}
	m := notify.Merge{Source: i, Target: &target, By: item.Person}
	if err := r.notifyMerge(tx, m, item, e.PersonIDs, informed); err != nil {
		return err
	}
	if err := r.Notify.Merged(tx, m, item.At, quietly); err != nil {
		return err
	}
	return r.postMerge(tx, m, item)
}

// notifyMerge notifies persons of a merge, each once. fresh are the persons who became responsible for the target. informed
// are the persons who were notified of the source. Responders of the source and persons who have acknowledged the target are
// notified, too. The methods for Info are used, which call no person. A fresh person who has not acknowledged the source is
// called, because the pages of the source are cancelled. The call is left out if the target is acknowledged or snoozed.
func (r *Service) notifyMerge(tx *db.Tx, m notify.Merge, item activity.Item, fresh, informed []int64) error {
	methods, err := r.methodsOf(tx, m.Source)
	if err != nil {
		return err
	}
	calls := m.Target.Progress == incident.Triggered && m.Target.SnoozedBefore <= item.At.Unix()
	seen := []int64{item.Person}
	for _, id := range slices.Concat(fresh, m.Source.Responders(), informed, ackers(m.Target)) {
		if slices.Contains(seen, id) {
			continue
		}
		seen = append(seen, id)
		both, err := notify.MayRead(tx, m.Target, m.Source.ChannelID, id)
		if err != nil {
			return err
		}
		p, found, err := notify.Find(tx, item.Account, id)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		n := notify.Notification{Account: item.Account, Cause: notify.Merged}
		severity, by := quiet, (*channel.By)(nil)
		why := sentence.New("merged_notified")
		switch {
		case slices.Contains(fresh, id):
			why = sentence.New("merged_responsible")
		case slices.Contains(ackers(m.Target), id):
			why = sentence.New("merged_acked")
		}
		if calls && slices.Contains(fresh, id) && !slices.Contains(ackers(m.Source), id) {
			n.Cause = notify.Assigned
			severity, by = m.Target.Severity, methods[id]
		}
		n = m.About(n, both, why)
		n.Detail.Severity = m.Target.Severity
		n.Key = fmt.Sprintf("%s/%s/%d/p%d", n.Incident, activity.IncidentMerge, item.At.UnixMilli(), id)
		if err := r.Notify.PutFor(tx, p, by, severity, n, item.At); err != nil {
			return err
		}
	}
	return nil
}

// ackers returns the persons who have acknowledged an incident.
func ackers(i *incident.Incident) (persons []int64) {
	for _, a := range i.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
			persons = append(persons, a.PersonID)
		}
	}
	return persons
}

// postMerge posts a merge to the war rooms of its source, so that the rooms lead to the target.
func (r *Service) postMerge(tx *db.Tx, m notify.Merge, item activity.Item) error {
	rooms, err := warroom.OpenOf(tx, item.Account, m.Source.IncidentID)
	if err != nil || len(rooms) == 0 {
		return err
	}
	both, err := notify.MayRead(tx, m.Target, m.Source.ChannelID, 0)
	if err != nil {
		return err
	}
	for _, room := range rooms {
		kind := room.PluginType + "_app"
		n := notify.Notification{Account: item.Account, Cause: notify.Merged, Severity: m.Target.Severity}
		n = m.About(n, both, sentence.New("room_merged"))
		n.Method = fmt.Sprintf("%s:%d", kind, room.IntegrationID)
		n.Address = notify.Address{Direct: &notify.Direct{Account: item.Account, Kind: kind, Integration: room.IntegrationID, Chat: room.ChatID}}
		n.Detail.Severity = m.Target.Severity
		n.Key = fmt.Sprintf("%s/%s/%d/a%s/%s", n.Incident, activity.IncidentMerge, item.At.UnixMilli(), n.Address.Digest(), n.Method)
		if err := r.Notify.Put(tx, n, item.At); err != nil {
			return err
		}
	}
	return nil
}
