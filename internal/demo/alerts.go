package demo

import (
	"fmt"
	"strings"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/incident"
)

// Kinds of object IDs: the digit that distinguishes them. account.json has others.
const (
	kindAlert    byte = 'a'
	kindIncident byte = '1'
	kindFeed     byte = '9'
)

// object returns an object ID that is the same in every run.
func object(kind byte, n int) string { return fmt.Sprintf("67a1c0de0000000%c%08x", kind, n) }

// certificate is the number of the trouble that is snoozed.
const certificate = 7

func incidents(m moments) []incident.Incident {
	var all []incident.Incident
	for i, t := range troubles() {
		began := m.ago(t.began)
		r := incident.Incident{
			AccountID:  accountID,
			IncidentID: object(kindIncident, i+1),
			Title:      t.title,
			ChannelID:  t.channel,
			Progress:   t.progress(),
			Severity:   t.severity,
			StartTime:  began.Unix(),
			LastTime:   began.Unix(),
			AlertCnt:   int64(len(t.resources)),
			Detail:     t.detail(m, i),
		}
		if r.CloseTime != 0 {
			r.CloserID = t.history[len(t.history)-1].person
		}
		for _, h := range t.history {
			a := incident.Assignment{PersonID: h.person, AssignedAt: began.Add(h.from).Unix()}
			if h.to != 0 {
				a.RemovedAt = began.Add(h.to).Unix()
			}
			acked := max(r.AckTime, a.AssignedAt+120)
			if t.acknowledged && (h.to == 0 || acked < a.RemovedAt) {
				a.AcknowledgedAt = acked
			}
			r.Assignments = append(r.Assignments, a)
		}
		if i+1 == certificate {
			r.SnoozedBefore = m.ago(-12 * hour).Unix()
			r.Snoozes = []incident.Snooze{{From: m.ago(12 * hour).Unix(), Until: r.SnoozedBefore, PersonID: siobhan}}
		}
		all = append(all, r)
	}
	return all
}

// detail returns what people and the trouble's first alert have added to its incident. i is its position.
func (t trouble) detail(m moments, i int) incident.Detail {
	began, first := m.ago(t.began), t.alert(m, i, t.resources[0])
	d := incident.Detail{
		IntegrationIDs: []int64{first.IntegrationID}, IntegrationTypes: []string{first.IntegrationType}, DedupKey: first.AlertKey,
		Labels: first.Labels, Fields: t.fields(), CreatedAt: began.Unix(), UpdatedAt: began.Unix(),
	}
	if t.acknowledged {
		d.AckTime = began.Add(3*time.Minute + time.Duration(i)*35*time.Second).Unix()
		d.UpdatedAt = d.AckTime
	}
	if t.lasted != 0 {
		d.CloseTime = began.Add(t.lasted).Unix()
		d.UpdatedAt = d.CloseTime
	}
	return d
}

func (t trouble) progress() string {
	switch {
	case t.lasted != 0:
		return "Closed"
	case t.acknowledged:
		return "Processing"
	}
	return "Triggered"
}

// alerts returns the alerts of the troubles, and some that were silenced and have no incident.
func alerts(m moments) []alert.Alert {
	var all []alert.Alert
	for i, t := range troubles() {
		for _, resource := range t.resources {
			a := t.alert(m, len(all)+1, resource)
			a.Incident = &alert.Incident{IncidentID: object(kindIncident, i+1)}
			all = append(all, a)
		}
	}
	for i, host := range []string{"orders-db-replica-1", "catalog-db-replica-1", "catalog-db-replica-2", "ledger-db-replica-1"} {
		quiet := trouble{
			channel: databases, severity: "Warning", service: "backup", check: "replication_lag", cluster: "fra-1",
			events: int64(3 + i), began: time.Duration(10+24*i) * hour, lasted: 50 * time.Minute,
		}
		a := quiet.alert(m, len(all)+1, host)
		a.EverMuted = true
		all = append(all, a)
	}
	for _, i := range []int{0, 3} {
		page := "https://grafana." + domain + "/d/" + all[i].Labels["service"]
		all[i].Images = []alert.Image{{Src: page + ".png", Href: page, Alt: "The last hour"}}
	}
	return all
}

// alert returns the alert of one resource. Each begins a minute after the one before it.
func (t trouble) alert(m moments, n int, resource string) alert.Alert {
	first := m.ago(t.began).Add(time.Duration(n%4) * time.Minute)
	last := m.ago(time.Duration(20+7*n) * time.Second)
	status := t.severity
	end := int64(0)
	if t.lasted != 0 {
		last, status = m.ago(t.began-t.lasted), "Ok"
		end = last.Unix()
	}
	through := intakes[t.through]
	a := alert.Alert{
		AlertID: object(kindAlert, n), AccountID: accountID, ChannelID: t.channel,
		IntegrationID: through.id, IntegrationName: through.name, IntegrationType: through.kind, IntegrationRefID: through.ref,
		Title: t.service + " / " + resource + " / " + t.check, TitleRule: "$service / $resource / $check",
		Description: fmt.Sprintf("%s on %s is out of bounds since %s.", strings.ReplaceAll(t.check, "_", " "), resource, first.Format("15:04")),
		AlertKey:    t.cluster + "/" + t.service + "/" + t.check + "/" + resource, AlertSeverity: t.severity, AlertStatus: status,
		StartTime: first.Unix(), LastTime: last.Unix(), EndTime: end, EventCnt: t.events,
		CreatedAt: first.Unix() + 1, UpdatedAt: last.Unix() + 1,
		Labels: map[string]string{
			"service": t.service, "resource": resource, "check": t.check, "cluster": t.cluster, "environment": "production",
			"runbook": "https://runbooks." + domain + "/" + t.service + "/" + t.check,
		},
	}
	if len(t.history) > 0 {
		p := recordOf(t.history[len(t.history)-1].person)
		a.ResponderName, a.ResponderEmail = p.PersonName, p.Email
	}
	return a
}
