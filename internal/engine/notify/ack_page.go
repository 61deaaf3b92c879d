package notify

import (
	"context"
	"embed"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/incident"
	"tocsin/internal/linkpage"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

//go:embed ack.html
var pages embed.FS

var ackBody = linkpage.Parse(pages, "ack.html")

// ackView holds what the page shows.
type ackView struct {
	Title, Person, Problem string
	Lines                  []string // of a bundle: its incidents
	List                   string   // likewise, the link to the list of incidents; empty: the server has no public URL
	About                  *render.Incident
	Since                  string
	Persons                []Person // of a link in a chat: who may act as its reader
	Merged                 string   // the incident that the link was made for, which was merged into this incident; empty: none
	Done                   string   // the action of the button, see button; empty: none was pressed
	Minutes                int64    // of the snooze
	Used                   bool     // the link acts once and was used before
	Ask                    bool     // it may be acknowledged
	Open                   bool     // it may be snoozed and resolved
	Answer                 bool     // the person has the incident, and may answer whether that is still so
	Still                  bool     // of a bundle: incidents wait for answers, but none for an acknowledgement
}

// AckPage serves /ack/TOKEN to a person who may read the incident now, or is responsible for it. GET changes nothing,
// because mail programs follow links before people do. The buttons on the page send POST, which acknowledges, snoozes or
// resolves the incident.
func (r *Service) AckPage() http.Handler {
	return &linkpage.Page[ackView]{Body: ackBody, Answer: r.ack, Brief: replyOf, Log: r.Log}
}

const maxSnooze = 24 * 60 // minutes

// button is what a button of the page sends.
type button struct {
	do      string // ack, snooze, resolve, or an answer such as incident.Still; empty: none was pressed
	minutes int64  // of a snooze
	person  int64  // the person that the reader of a link in a chat chose
}

// pressed reads the button of a request. A POST without a form acknowledges.
func pressed(req *http.Request) (b button, ok bool) {
	if req.Method != http.MethodPost {
		return b, true
	}
	if err := req.ParseForm(); err != nil {
		return b, false
	}
	switch b.do = req.PostForm.Get("do"); b.do {
	case "":
		b.do = "ack"
	case "snooze":
		b.minutes, _ = strconv.ParseInt(req.PostForm.Get("minutes"), 10, 64)
		if b.minutes < 1 || b.minutes > maxSnooze {
			return b, false
		}
	case "ack", "resolve", incident.Still, incident.Later, incident.Never, incident.Back:
	default:
		return b, false
	}
	b.person, _ = strconv.ParseInt(req.PostForm.Get("person"), 10, 64)
	return b, true
}

// ack reads the incident of a link, does what the pressed button is for, and returns what the page shows.
func (r *Service) ack(req *http.Request) (status int, view ackView) {
	now := r.Clock.Now()
	ticket, err := r.Links.Redeem(req.PathValue("token"), now)
	if err != nil {
		return http.StatusNotFound, ackView{Problem: err.Error()}
	}
	b, ok := pressed(req)
	if !ok {
		return http.StatusBadRequest, ackView{Problem: linkpage.NoAction}
	}
	if ticket.Message != "" {
		return r.ackOnce(req.Context(), ticket, b, now)
	}
	return r.acknowledge(req.Context(), ticket, b, now)
}

// acknowledge reads the incidents of a ticket, does what the button is for, and returns what the person is shown.
func (r *Service) acknowledge(ctx context.Context, ticket Ticket, b button, now time.Time) (status int, view ackView) {
	if ticket.Bundle != "" {
		status, view, err := r.ackBundle(ctx, ticket, b.do == "ack", now)
		if err != nil {
			r.Log.Error("acknowledgement of a bundle by link", "error", err)
			return linkpage.Status(err), ackView{Problem: "the incidents could not all be acknowledged; try again"}
		}
		return status, view
	}
	err := r.closeFirst(ctx, ticket, b, now)
	if err == nil && b.do != "" {
		err = r.DB.WriteOf(ctx, ticket.Account, func(tx *db.Tx) (err error) {
			return r.press(tx, ticket, b, now)
		})
	}
	if err == nil {
		err = r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
			view, err = r.view(tx, ticket, b, now)
			return err
		})
	}
	if status, problem, ok := linkpage.Refused(err); ok {
		return status, ackView{Problem: problem}
	}
	if err != nil {
		r.Log.Error("acknowledgement by link", "error", err)
		return http.StatusInternalServerError, ackView{Problem: "the incident could not be changed; try again"}
	}
	view.About.Next = r.next(ctx, view.About, ticket.Account, now)
	return http.StatusOK, view
}

// view returns what the page shows of an incident.
func (r *Service) view(tx *db.Tx, t Ticket, b button, now time.Time) (view ackView, err error) {
	if t.Chat && b.do != "" {
		t.Person = b.person
	}
	t, merged, err := lead(tx, t)
	if err != nil {
		return view, err
	}
	i, p, err := permit(tx, t)
	if err != nil {
		return view, err
	}
	about, err := r.about(tx, &Notification{Account: t.Account, Incident: i.IncidentID, Person: t.Person}, &i, now)
	if err != nil {
		return view, err
	}
	about = about.Cleaned()
	zone, err := time.LoadLocation(about.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	view = ackView{
		Title: about.Problem(), Merged: render.OneLine(merged), Person: p.Name, About: &about, Done: b.do, Minutes: b.minutes,
		Since: time.Unix(i.StartTime, 0).In(zone).Format("2006-01-02 15:04 MST"),
		Ask:   b.do == "" && i.Progress == incident.Triggered,
		Open:  b.do == "" && i.Progress != incident.Closed,
	}
	view.Answer = b.do == "" && i.Progress == incident.Processing && (t.Chat || i.AnsweredBy(t.Person))
	if t.Chat && view.Open {
		view.Persons, err = chatReaders(tx, &i)
	}
	return view, err
}

// permit returns the incident of a link and the person whom it was made for, if that person may read the incident now or
// is responsible for it. The link of a chat without a person reads what was posted there.
func permit(tx *db.Tx, t Ticket) (i incident.Incident, p Person, err error) {
	if t.Chat && t.Person == 0 {
		i, found, err := incident.Find(tx, t.Account, t.Incident)
		if err == nil && !found {
			err = fault.New(fault.NotFound, "the incident does not exist any more")
		}
		return i, p, err
	}
	p, known, err := Find(tx, t.Account, t.Person)
	if err != nil {
		return i, p, err
	}
	who, err := Reader(tx, t.Account, t.Person)
	if err != nil {
		return i, p, err
	}
	i, err = incident.Permit(tx, who, t.Incident)
	err = unlessResponsible(err, &i, t.Person)
	switch kind := fault.KindOf(err); {
	case !known || err != nil && kind == fault.NotFound:
		err = fault.New(fault.NotFound, "the incident, or the person whom this link was made for, does not exist any more")
	case err != nil && kind == fault.AccessDenied:
		err = fault.New(fault.AccessDenied, "the person whom this link was made for may not read the incident")
	}
	return i, p, err
}

// unlessResponsible returns the error of asking whether a person may read an incident, but nil instead of a denial for a
// person who is responsible for it: a rule of a private channel may page persons outside its teams (decision 0019).
func unlessResponsible(err error, i *incident.Incident, person int64) error {
	if fault.KindOf(err) == fault.AccessDenied && slices.Contains(i.Responders(), person) {
		return nil
	}
	return err
}
