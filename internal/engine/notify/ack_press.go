package notify

import (
	"context"
	"slices"
	"time"

	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// closeFirst closes the alerts of an incident that has many, before the button resolves it: other writers must not wait.
func (r *Service) closeFirst(ctx context.Context, t Ticket, b button, now time.Time) error {
	if b.do != "resolve" {
		return nil
	}
	var writer incident.Writer
	var i incident.Incident
	many := false
	err := r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		writer, i, err = r.writerOf(tx, t, b, now)
		if err == nil {
			many, err = incident.HaveMany(tx, t.Account, i.IncidentID)
		}
		return err
	})
	if err != nil || !many {
		return err
	}
	write := func(fn func(*db.Tx) error) error { return r.DB.WriteOf(ctx, t.Account, fn) }
	return incident.CloseFirst(write, writer, i.IncidentID, nil)
}

// writerOf returns the incident of a link, and the Writer of the person who may act on it.
func (r *Service) writerOf(tx *db.Tx, t Ticket, b button, now time.Time) (writer incident.Writer, i incident.Incident, err error) {
	if t.Chat {
		t.Person = b.person
	}
	t, _, err = lead(tx, t)
	if err != nil {
		return writer, i, err
	}
	i, _, err = permit(tx, t)
	if err != nil {
		return writer, i, err
	}
	writer = incident.Writer{Tx: tx, Bus: r.Bus, Account: t.Account, Now: now, Person: t.Person}
	if !t.Chat {
		return writer, i, nil
	}
	writer.Via = "chat"
	readers, err := chatReaders(tx, &i)
	if err == nil && !slices.ContainsFunc(readers, func(p Person) bool { return p.ID == t.Person }) {
		err = fault.New(fault.AccessDenied, "choose who you are: a person who is responsible, or in the team of the channel")
	}
	return writer, i, err
}

// press does what a button is for, as the person of the link.
func (r *Service) press(tx *db.Tx, t Ticket, b button, now time.Time) error {
	writer, i, err := r.writerOf(tx, t, b, now)
	if err != nil {
		return err
	}
	switch b.do {
	case "snooze":
		return writer.Snooze(&i, b.minutes)
	case "resolve":
		return writer.Resolve(&i, "", "")
	case incident.Still, incident.Later, incident.Never, incident.Back:
		return writer.Answer(&i, b.do)
	}
	return ackOrAnswer(writer, &i)
}

// ackOrAnswer acknowledges an incident. A person who has acknowledged the incident before answers that the work goes on.
func ackOrAnswer(writer incident.Writer, i *incident.Incident) error {
	if i.Progress == incident.Processing && i.SnoozedBefore == 0 && i.AcknowledgedAt(writer.Person) > 0 {
		return writer.Answer(i, incident.Still)
	}
	return writer.Ack(i)
}
