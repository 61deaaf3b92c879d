package notify

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

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
	var asked map[string]bool
	var p Person
	known := false
	err = r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		p, known, err = Find(tx, t.Account, t.Person)
		if err != nil || !known {
			return err
		}
		ids, asked, err = bundled(tx, t)
		return err
	})
	if err != nil {
		return 0, view, err
	}
	if !known || len(ids) == 0 {
		problem := "the person whom this link was made for does not exist any more, or a newer message tells of the incidents"
		return http.StatusNotFound, ackView{Problem: problem}, nil
	}
	view.Person, view.List = p.Name, r.Links.Open("")
	shown := 0
	waiting := waits{}
	seen := map[string]bool{}
	for batch := range slices.Chunk(ids, ackBatch) {
		do := r.DB.Snapshot
		if press {
			do = func(ctx context.Context, fn func(*db.Tx) error) error { return r.DB.WriteOf(ctx, t.Account, fn) }
		}
		var lines []string
		var open waits
		err := do(ctx, func(tx *db.Tx) (err error) {
			lines, open, err = r.ackSome(tx, t, batch, asked, seen, press, now)
			return err
		})
		if err != nil {
			return 0, view, err
		}
		shown += len(lines)
		waiting = waits{waiting.ack || open.ack, waiting.answer || open.answer}
		view.Lines = append(view.Lines, lines[:min(len(lines), max(0, maxOnPage-len(view.Lines)))]...)
	}
	if shown == 0 {
		return http.StatusForbidden, ackView{Problem: "the person whom this link was made for may not read the incidents"}, nil
	}
	view.Title, view.Ask = counted(shown, "incident"), (waiting.ack || waiting.answer) && !press
	view.Still = view.Ask && !waiting.ack
	if press {
		view.Done = "ack"
	}
	if shown > len(view.Lines) {
		view.Lines = append(view.Lines, fmt.Sprintf("and %d more", shown-len(view.Lines)))
	}
	return http.StatusOK, view, nil
}

// waits reports whether incidents of a bundle wait for an acknowledgement, and for an answer.
type waits struct{ ack, answer bool }

// bundled returns the incidents of the message to a person, the most severe first. asked holds the incidents that the
// message asks about.
func bundled(tx *db.Tx, t Ticket) (ids []string, asked map[string]bool, err error) {
	seen := map[string]bool{}
	asked = map[string]bool{}
	_, err = db.All(tx, func(scan db.Scan) (id string, err error) {
		text, detail := "", Detail{}
		if err := scan(&id, &text); err != nil {
			return "", err
		}
		if json.Unmarshal([]byte(text), &detail) == nil && detail.Question != "" {
			asked[id] = true
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
		return id, nil
	}, `SELECT incident_id, detail FROM notice
		WHERE account_id = $1 AND bundle = $2 AND bundle <> '' AND person_id = $3 AND incident_id <> '' AND status <> 'cancelled'
		ORDER BY urgency, created_at, notice_id`, t.Account, t.Bundle, t.Person)
	return ids, asked, err
}

// ackSome returns a line for each incident that the person of a ticket may read. open reports whether an incident waits for
// an acknowledgement or an answer. A pressed button acknowledges or answers the waiting incidents. The target of a merge
// stands for a merged incident. asked holds the incidents that the message asks about. seen holds the incidents that have a
// line.
func (r *Service) ackSome(
	tx *db.Tx, t Ticket, ids []string, asked, seen map[string]bool, press bool, now time.Time,
) (lines []string, open waits, err error) {
	who, err := Reader(tx, t.Account, t.Person)
	if err != nil {
		return nil, open, err
	}
	writer := incident.Writer{Tx: tx, Bus: r.Bus, Account: t.Account, Now: now, Person: t.Person}
	for _, id := range ids {
		t.Incident = id
		to, _, err := lead(tx, t)
		if err != nil {
			return nil, open, err
		}
		i, found, err := readable(tx, who, to.Incident)
		if err != nil {
			return nil, open, err
		}
		if !found || seen[i.IncidentID] {
			continue
		}
		seen[i.IncidentID] = true
		waits := waits{ack: i.Progress == incident.Triggered}
		waits.answer = asked[id] && i.Progress == incident.Processing && i.AnsweredBy(t.Person)
		open = struct{ ack, answer bool }{open.ack || waits.ack, open.answer || waits.answer}
		if press && (waits.ack || waits.answer) {
			if err := ackOrAnswer(writer, &i); err != nil {
				return nil, open, err
			}
		}
		partial, err := r.partial(tx, &i, now)
		if err != nil {
			return nil, open, err
		}
		first, err := i.Lead(tx)
		if err != nil {
			return nil, open, err
		}
		lines = append(lines, fmt.Sprintf("%s · #%s · %s · %s", i.Severity, incident.Num(i.IncidentID), problem(&i, first, partial), i.Progress))
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
