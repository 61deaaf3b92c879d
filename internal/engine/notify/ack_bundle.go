package notify

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const (
	ackBatch  = 50 // incidents that one transaction acknowledges: other writers wait for it
	maxOnPage = 50 // incidents that the page lists
)

// ackBundle reads the incidents of a bundle that its person may read, acknowledges those that wait for it if the button
// was pressed, and returns what the page shows.
func (r *Service) ackBundle(ctx context.Context, t Ticket, press bool, now time.Time) (status int, view ackView, err error) {
	var ids []string
	var p Person
	known := false
	err = r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		if p, known, err = Find(tx, t.Account, t.Person); err != nil || !known {
			return err
		}
		ids, err = bundled(tx, t)
		return err
	})
	if err != nil {
		return 0, view, err
	}
	if !known || len(ids) == 0 {
		problem := "the person whom this link was made for does not exist any more, or a newer message tells of the incidents"
		return http.StatusNotFound, ackView{Problem: problem}, nil
	}
	view.Person = p.Name
	shown, waiting, seen := 0, false, map[string]bool{}
	for batch := range slices.Chunk(ids, ackBatch) {
		do := r.DB.Snapshot
		if press {
			do = func(ctx context.Context, fn func(*db.Tx) error) error { return r.DB.WriteOf(ctx, t.Account, fn) }
		}
		var lines []string
		open := false
		err := do(ctx, func(tx *db.Tx) (err error) {
			lines, open, err = r.ackSome(tx, t, batch, seen, press, now)
			return err
		})
		if err != nil {
			return 0, view, err
		}
		shown += len(lines)
		waiting = waiting || open
		view.Lines = append(view.Lines, lines[:min(len(lines), max(0, maxOnPage-len(view.Lines)))]...)
	}
	if shown == 0 {
		return http.StatusForbidden, ackView{Problem: "the person whom this link was made for may not read the incidents"}, nil
	}
	view.Title, view.Ask = fmt.Sprintf("%d incidents", shown), waiting && !press
	if press {
		view.Done = "ack"
	}
	if shown > len(view.Lines) {
		view.Lines = append(view.Lines, fmt.Sprintf("and %d more", shown-len(view.Lines)))
	}
	return http.StatusOK, view, nil
}

// bundled returns the incidents of the message to a person, the most severe first.
func bundled(tx *db.Tx, t Ticket) (ids []string, err error) {
	all, err := db.All(tx, db.Column[string], `SELECT incident_id FROM notice
		WHERE account_id = $1 AND bundle = $2 AND bundle <> '' AND person_id = $3 AND incident_id <> '' AND status <> 'cancelled'
		ORDER BY urgency, created_at, notice_id`, t.Account, t.Bundle, t.Person)
	seen := map[string]bool{}
	for _, id := range all {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, err
}

// ackSome returns a line for each incident that the person of a ticket may read, and whether one of them waits for an
// acknowledgement. If the button was pressed it acknowledges those. One that was merged into another stands for that one; seen
// holds the incidents that have a line.
func (r *Service) ackSome(
	tx *db.Tx, t Ticket, ids []string, seen map[string]bool, press bool, now time.Time,
) (lines []string, open bool, err error) {
	who, err := Reader(tx, t.Account, t.Person)
	if err != nil {
		return nil, false, err
	}
	for _, id := range ids {
		t.Incident = id
		to, _, err := lead(tx, t)
		if err != nil {
			return nil, false, err
		}
		i, found, err := readable(tx, who, to.Incident)
		if err != nil {
			return nil, false, err
		}
		if !found || seen[i.IncidentID] {
			continue
		}
		seen[i.IncidentID] = true
		if i.Progress == incident.Triggered {
			open = true
			if press {
				writer := incident.Writer{Tx: tx, Bus: r.Bus, Account: t.Account, Now: now, Person: t.Person}
				if err := writer.Ack(&i); err != nil {
					return nil, false, err
				}
			}
		}
		partial, err := r.partial(tx, &i, now)
		if err != nil {
			return nil, false, err
		}
		lines = append(lines, fmt.Sprintf("%s · %s · %s", i.Severity, problem(&i, partial), i.Progress))
	}
	return lines, open, nil
}

// readable returns an incident; found is false if it was removed or the caller may not read it.
func readable(tx *db.Tx, who auth.Principal, id string) (i incident.Incident, found bool, err error) {
	i, err = incident.Permit(tx, who, id)
	err = unlessResponsible(err, &i, who.PersonID)
	if kind := fault.KindOf(err); err != nil && (kind == fault.NotFound || kind == fault.AccessDenied) {
		return i, false, nil
	}
	return i, err == nil, err
}
