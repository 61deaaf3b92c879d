package notify

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/linkpage"
	"tocsin/internal/platform/db"
	"tocsin/internal/push"
	"tocsin/internal/sender"
)

// methodPush is the method of messages to a person's browsers. Each browser gets a notification of its own, whose method
// ends in the number of its subscription, so that one that fails is tried again without the others.
const methodPush = "push"

// MethodName returns a method for people: that of a browser without the number of its subscription.
func MethodName(method string) string {
	if kindOf(method) == methodPush {
		return methodPush
	}
	return method
}

// Browser is a browser that a person receives push in. Its endpoint is read when a message is sent.
type Browser struct {
	Account      int64 `json:"account"`
	Subscription int64 `json:"subscription"`
}

// Browsers returns the browsers in which a person receives push. One that was given another key than the server has now
// does not.
func Browsers(tx *db.Tx, account, person int64) ([]push.Subscription, error) {
	all, err := push.Of(tx, account, person)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	key, err := configstore.Once(tx, account, pushKey{}, func() (string, error) { return push.PublicKey(tx) })
	return slices.DeleteFunc(slices.Clone(all), func(s push.Subscription) bool { return s.PublicKey != key }), err
}

// pushKey is under which a transaction keeps the server's key for messages to browsers.
type pushKey struct{}

// browsers resolves push to a person: a Reach for each browser.
func browsers(tx *db.Tx, account int64, p Person) (found []Reach, lacks sentence.Value, err error) {
	all, err := Browsers(tx, account, p.ID)
	for _, s := range all {
		found = append(found, reachBrowser(s))
	}
	if len(found) == 0 {
		lacks = sentence.New("no_browser")
	}
	return found, lacks, err
}

func reachBrowser(s push.Subscription) Reach {
	return Reach{Method: fmt.Sprintf("%s:%d", methodPush, s.ID), Address: Address{To: s.Host, Push: &Browser{s.AccountID, s.ID}}}
}

// TestPush stores a test message to a browser. There is at most one in ten seconds.
func (r *Service) TestPush(tx *db.Tx, s push.Subscription, now time.Time) error {
	reach := reachBrowser(s)
	return r.Put(tx, Notification{
		Account: s.AccountID, Key: fmt.Sprintf("push-test/%d/%d/%s", s.ID, now.Unix()/10, reach.Method), Event: "push_test", Cause: PushTest,
		Person: s.PersonID, Method: reach.Method, Address: reach.Address, Reason: sentence.New("page_test"),
		Detail: Detail{Subject: "This is a test", Text: "Notifications reach you here."},
	}, now)
}

// once sets the links of a message to a browser: to the page of the incident, and one that acknowledges once.
func (r *Service) once(f *attempt, sent []*member, m *sender.Message, now time.Time) {
	if kindOf(f.Method) != methodPush || r.Links == nil || r.Links.Base == "" {
		return
	}
	if m.AckLink != "" {
		m.AckLink = r.Links.AckOnce(f.Account, f.message(), f.Person, now)
	}
	m.Link = r.Links.Open("")
	if m.Channel != "" {
		m.Link = r.Links.Open(sent[len(sent)-1].Incident)
	}
}

// redeemed returns the ticket for what the message of a link is about, and when the link was used, Unix milliseconds; 0: it
// was not.
func (r *Service) redeemed(ctx context.Context, t Ticket) (of Ticket, used int64, found bool, err error) {
	err = r.DB.Snapshot(ctx, func(tx *db.Tx) error {
		var p PhonePage
		p, found, err = PageOf(tx, t.Account, t.Message)
		if err != nil || !found || p.Person != t.Person {
			found = false
			return err
		}
		of = p.ticket()
		used, _, err = db.One(tx, db.Column[int64], `SELECT link_used_at FROM notice WHERE account_id = $1 AND notice_id = $2`,
			t.Account, p.ID)
		return err
	})
	return of, used, found, err
}

// ackOnce is acknowledge for the link of a message to a browser, which acts once. Later it shows what is so now.
func (r *Service) ackOnce(ctx context.Context, t Ticket, b button, now time.Time) (status int, view ackView) {
	of, used, found, err := r.redeemed(ctx, t)
	switch {
	case err != nil:
		r.Log.Error("acknowledgement by the link of a browser", "error", err)
		return linkpage.Status(err), ackView{Problem: "the incident could not be changed; try again"}
	case !found:
		return http.StatusNotFound, ackView{Problem: "the message of this link does not exist any more"}
	case used == 0 && b.do != "":
		status, view = r.acknowledge(ctx, of, b, now)
		if status != http.StatusOK {
			return status, view
		}
		err = r.DB.WriteOf(ctx, t.Account, func(tx *db.Tx) error { return useLink(tx, t.Account, of, t.Message, now) })
		if err != nil { // what was asked for is done; the link can be used again
			r.Log.Error("the use of a link could not be stored", "error", err)
		}
		return status, view
	}
	status, view = r.acknowledge(ctx, of, button{}, now)
	if used == 0 || status != http.StatusOK {
		return status, view
	}
	waits := view.Ask
	view.Ask = false
	view.Open = false
	view.Answer = false
	view.Used = true
	if b.do != "" && waits {
		status, view.Problem = http.StatusGone, "this link was used before, and the incident waits again: open it in Tocsin"
	}
	return status, view
}

// useLink stores that the link of a message was used.
func useLink(tx *db.Tx, account int64, of Ticket, message string, now time.Time) (err error) {
	if of.Bundle != "" {
		err = tx.Do(`UPDATE notice SET link_used_at = $3 WHERE account_id = $1 AND bundle = $2 AND bundle <> ''`,
			account, message, now.UnixMilli())
	} else {
		err = tx.Do(`UPDATE notice SET link_used_at = $3 WHERE account_id = $1 AND notice_id = $2`, account, message, now.UnixMilli())
	}
	return err
}

// ackReply is what the service worker of a browser reads of a link that it posted to.
type ackReply struct {
	Done    string `json:"done"` // ack: it is acknowledged; used: the link was used before; empty: see problem
	Title   string `json:"title"`
	Problem string `json:"problem"`
}

// replyOf returns a view for a service worker.
func replyOf(view ackView) any {
	reply := ackReply{Done: view.Done, Title: view.Title, Problem: view.Problem}
	if view.Used && view.Problem == "" {
		reply.Done = "used"
	}
	if view.About != nil && view.About.Progress == incident.Closed && reply.Done == "" && reply.Problem == "" {
		reply.Done = "over"
	}
	return reply
}
