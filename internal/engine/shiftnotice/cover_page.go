package shiftnotice

import (
	"embed"
	"net/http"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/engine/notify"
	"tocsin/internal/linkpage"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/schedule"
)

//go:embed cover.html
var pages embed.FS

var coverBody = linkpage.Parse(pages, "cover.html")

// coverView holds what the page shows.
type coverView struct {
	Problem, Schedule, Asks, Person, From, Until, Reason string
	Status                                               string // of the request
	TakenBy                                              string
	Mine                                                 bool // the reader has taken the shift
	Declined                                             bool // the reader has declined
}

// CoverPage serves /cover/TOKEN to a person who was asked for cover. GET changes nothing, because mail programs follow links
// before people do. The buttons on the page send POST, which accepts or declines by the operation of the API.
func (r *Service) CoverPage(frame *api.Frame) http.Handler {
	answer := func(req *http.Request) (int, coverView) { return r.answer(req, frame) }
	return &linkpage.Page[coverView]{Body: coverBody, Answer: answer, Log: r.Log}
}

// pressed does what a button of the page is for, as the person of the link. known is false if there is no such button.
func pressed(req *http.Request, frame *api.Frame, who auth.Principal, request int64) (known bool, err error) {
	by := api.Inside{Who: who, IP: frame.ClientIP(req)}
	in := schedule.CoverAnswerRequest{RequestID: request}
	switch req.PostFormValue("do") {
	case "accept":
		_, err = api.Ask[schedule.CoverTaken](req.Context(), frame, by, "/schedule/cover/accept", in)
	case "decline":
		_, err = api.Ask[api.Empty](req.Context(), frame, by, "/schedule/cover/decline", in)
	default:
		return false, nil
	}
	return true, err
}

// answer does what the pressed button is for, and returns what the page shows.
func (r *Service) answer(req *http.Request, frame *api.Frame) (status int, view coverView) {
	ticket, err := r.Notify.Links.RedeemCover(req.PathValue("token"), r.Notify.Clock.Now())
	if err != nil {
		return http.StatusNotFound, coverView{Problem: err.Error()}
	}
	var who auth.Principal
	err = r.DB.Snapshot(req.Context(), func(tx *db.Tx) (err error) {
		who, err = reader(tx, ticket)
		return err
	})
	var refused error
	if err == nil && req.Method == http.MethodPost {
		var known bool
		known, refused = pressed(req, frame, who, ticket.Request)
		if !known {
			return http.StatusBadRequest, coverView{Problem: linkpage.NoAction}
		}
	}
	if err == nil {
		err = r.DB.Snapshot(req.Context(), func(tx *db.Tx) (err error) {
			view, err = showCover(tx, ticket, who)
			return err
		})
	}
	if err == nil && view.Mine {
		refused = nil // the button was pressed twice
	}
	if err == nil {
		err = refused
	}
	if err == nil {
		return http.StatusOK, view
	}
	if status, problem, ok := linkpage.Refused(err); ok {
		view.Problem = problem
		return status, view
	}
	r.Log.Error("answer to a request for cover by link", "error", err)
	return http.StatusInternalServerError, coverView{Problem: "the answer could not be stored; try again"}
}

// reader returns the person of a link as the caller of an operation: with no permission, so that the person can do by it what
// persons do for themselves. A person whose app keys are rejected is refused.
func reader(tx *db.Tx, t notify.Ticket) (auth.Principal, error) {
	gone := fault.New(fault.NotFound, "the person whom this link was made for does not exist any more")
	p, found, err := notify.Find(tx, t.Account, t.Person)
	if err != nil || !found || p.Status == "pending" {
		if err == nil {
			err = gone
		}
		return auth.Principal{}, err
	}
	zone, err := person.Zone(tx, t.Account)
	return auth.Principal{AccountID: t.Account, PersonID: p.ID, PersonName: p.Name, Zone: zone}, err
}

// showCover returns what the page shows of a request.
func showCover(tx *db.Tx, ticket notify.Ticket, who auth.Principal) (view coverView, err error) {
	q, found, err := schedule.FindCover(tx, ticket.Account, ticket.Request)
	if err != nil {
		return view, err
	}
	var shifts *schedule.Shifts
	if found {
		shifts, err = schedule.FindShifts(tx, ticket.Account, q.ScheduleID, who.Zone)
		if err != nil {
			return view, err
		}
	}
	if shifts == nil {
		return view, fault.New(fault.NotFound, "the request for cover does not exist any more")
	}
	t := &notifier{tx: tx, account: ticket.Account, shifts: shifts}
	view = coverView{Schedule: shifts.Name, Person: who.PersonName, Reason: q.Reason, Status: q.Status, Mine: q.TakenBy == who.PersonID}
	view.Asks, err = t.names([]int64{q.PersonID})
	if err != nil {
		return view, err
	}
	if q.TakenBy != 0 {
		view.TakenBy, err = t.names([]int64{q.TakenBy})
		if err != nil {
			return view, err
		}
	}
	for _, id := range q.Declined {
		view.Declined = view.Declined || id == who.PersonID
	}
	p, _, err := notify.Find(tx, ticket.Account, who.PersonID)
	zone := t.zone(p)
	clock := func(at int64) string { return time.Unix(at, 0).In(zone).Format("Mon 2 Jan 15:04 MST") }
	view.From, view.Until = clock(q.Start), clock(q.End)
	return view, err
}
