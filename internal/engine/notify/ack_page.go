package notify

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

//go:embed ack.html
var pages embed.FS

var ackPage = template.Must(template.ParseFS(pages, "ack.html"))

// ackView holds what the page shows.
type ackView struct {
	Title, Severity, Progress, Person, Problem, Base string
	Lines                                            []string // of a bundle: its incidents
	Done, Ask                                        bool
}

// AckPage serves /ack/TOKEN to a person who may read the incident now, or is responsible for it. GET changes nothing,
// because mail programs follow links before people do. The button on the page sends POST, which acknowledges.
func (r *Service) AckPage() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Robots-Tag", "noindex")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
		status, view := r.ack(req)
		w.WriteHeader(status)
		if err := ackPage.Execute(w, view); err != nil {
			r.Log.Error("acknowledgement page", "error", err)
		}
	})
}

// ack reads the incident of a link, acknowledges it if the button was pressed, and returns what the page shows.
func (r *Service) ack(req *http.Request) (status int, view ackView) {
	now := r.Clock.Now()
	ticket, err := r.Links.Redeem(req.PathValue("token"), now)
	if err != nil {
		return http.StatusNotFound, ackView{Problem: err.Error()}
	}
	return r.acknowledge(req.Context(), ticket, req.Method == http.MethodPost, now)
}

// acknowledge reads the incidents of a ticket, acknowledges them if press is true, and returns what the person is shown.
func (r *Service) acknowledge(ctx context.Context, ticket Ticket, press bool, now time.Time) (status int, view ackView) {
	if ticket.Bundle != "" {
		status, view, err := r.ackBundle(ctx, ticket, press, now)
		if err != nil {
			r.Log.Error("acknowledgement of a bundle by link", "error", err)
			return http.StatusInternalServerError, ackView{Problem: "the incidents could not all be acknowledged; try again"}
		}
		return status, view
	}
	do := r.DB.Snapshot
	if press {
		do = r.DB.Write
	}
	status = http.StatusOK
	err := do(ctx, func(tx *db.Tx) error {
		view = ackView{}
		p, known, err := Find(tx, ticket.Account, ticket.Person)
		if err != nil {
			return err
		}
		who, err := Reader(tx, ticket.Account, ticket.Person)
		if err != nil {
			return err
		}
		i, err := incident.Permit(tx, who, ticket.Incident)
		err = unlessResponsible(err, &i, ticket.Person)
		switch kind := fault.KindOf(err); {
		case !known || err != nil && kind == fault.NotFound:
			status, view.Problem = http.StatusNotFound, "the incident, or the person whom this link was made for, does not exist any more"
			return nil
		case err != nil && kind == fault.AccessDenied:
			status, view.Problem = http.StatusForbidden, "the person whom this link was made for may not read the incident"
			return nil
		case err != nil:
			return err
		}
		view.Title, view.Severity, view.Progress, view.Person = render.OneLine(i.Title), i.Severity, i.Progress, p.Name
		if !press {
			view.Ask = i.Progress == incident.Triggered
			return nil
		}
		writer := incident.Writer{Tx: tx, Bus: r.Bus, Account: ticket.Account, Now: now, Person: ticket.Person}
		if err := writer.Ack(&i); err != nil {
			return err
		}
		view.Progress, view.Done = i.Progress, true
		return nil
	})
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == fault.Conflict:
		return http.StatusConflict, ackView{Title: view.Title, Severity: view.Severity, Progress: view.Progress, Problem: refused.Message}
	case err != nil:
		r.Log.Error("acknowledgement by link", "error", err)
		return http.StatusInternalServerError, ackView{Problem: "the incident could not be acknowledged; try again"}
	}
	return status, view
}

// unlessResponsible returns the error of asking whether a person may read an incident, but nil instead of a denial for a
// person who is responsible for it: a rule of a private channel may page persons outside its teams (decision 0019).
func unlessResponsible(err error, i *incident.Incident, person int64) error {
	if fault.KindOf(err) == fault.AccessDenied && slices.Contains(i.Responders(), person) {
		return nil
	}
	return err
}
