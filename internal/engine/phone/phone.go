// Package phone acts on what persons do at their telephones: digits that they press in a call, replies to text messages,
// and what the telephone service reports about both.
//
// It must never act on a request that is not signed, or twice on the same one. Whom a message was sent to, and not who
// calls back, decides as whom a digit counts.
package phone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/module"
	"tocsin/internal/person"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
	"tocsin/internal/sender/twilio"
)

// Service holds the dependencies.
type Service struct {
	DB         *db.DB
	Clock      clock.Clock
	Log        *slog.Logger
	Notify     *notify.Service
	Escalation *escalation.Service
	Twilio     twilio.Account // without a SID the own gateway calls back
}

// Module returns the package's retention.
func (s *Service) Module() module.Module {
	return module.Module{Name: "engine/phone", Prune: []module.Retention{{Period: module.Events, Prune: prune}}}
}

// Handlers returns the handlers by the patterns of their paths: those of the configured telephone service.
func (s *Service) Handlers() map[string]http.Handler {
	if s.Twilio.SID == "" {
		return map[string]http.Handler{"POST /phone/{token}": http.HandlerFunc(s.gateway)}
	}
	return map[string]http.Handler{
		"POST /phone/{token}" + twilio.DigitPath:  s.signed(s.twilioDigit),
		"POST /phone/{token}" + twilio.StatusPath: s.signed(s.twilioStatus),
		"POST /phone/twilio/sms":                  s.signed(s.twilioText),
	}
}

// answer is the reply to a person who pressed a digit.
type answer struct {
	text  string
	again *sender.Phone // what may be pressed now; nil: nothing
}

// replies are the answers to a question by their digits.
var replies = map[string]string{
	sender.DigitAck: incident.Still, sender.DigitLater: incident.Later, sender.DigitNever: incident.Never, sender.DigitBack: incident.Back,
}

// press carries out a digit for the person of a page, and stores that the person's number is theirs. sid is the call or text
// message that the digit came in; empty: the service names none.
func (s *Service) press(ctx context.Context, p *notify.PhonePage, sid, digit string) (answer, error) {
	a, err := s.act(ctx, p, sid, digit)
	if err == nil && digit != "" {
		s.prove(ctx, p)
	}
	return a, err
}

// prove stores that the number to which a page was sent is its person's, unless the person has another one by now. A failure
// does not change the effect of the digit.
func (s *Service) prove(ctx context.Context, p *notify.PhonePage) {
	number, err := s.Notify.SentTo(p)
	verified := true
	if err == nil {
		err = s.DB.Read(ctx, func(tx *db.Tx) error {
			who, found, err := person.Find(tx, p.Account, p.Person)
			verified = !found || who.PhoneVerified || who.Phone != number
			return err
		})
	}
	if err == nil && !verified {
		err = s.DB.WriteOf(ctx, p.Account, func(tx *db.Tx) error { return person.ProvePhone(tx, p.Account, p.Person, number) })
	}
	if err != nil {
		s.Log.Error("a telephone number is not stored as verified", "account_id", p.Account, "person_id", p.Person, "error", err)
	}
}

// act carries out a digit.
func (s *Service) act(ctx context.Context, p *notify.PhonePage, sid, digit string) (a answer, err error) {
	now := s.Clock.Now()
	reply := ""
	if p.Asks() {
		reply = replies[digit]
	}
	if reply == "" && (p.Asks() || digit != sender.DigitAck && digit != sender.DigitEscalate) {
		return s.again(ctx, p, digit, now)
	}
	done, err := s.answered(ctx, p.Account, sid, digit)
	switch {
	case err != nil:
		return a, err
	case done:
		return answer{text: alreadyDone}, nil
	case reply != "":
		a.text = s.Notify.Answer(ctx, p, reply, now)
	case digit == sender.DigitAck:
		a.text = s.Notify.Acknowledge(ctx, p, now)
	default:
		a.text, err = s.escalate(ctx, p, now)
		if err != nil {
			return a, err
		}
	}
	return a, s.record(ctx, p.Account, sid, digit, now)
}

// again returns the page once more, because the person asked for it or pressed a digit that has no meaning.
func (s *Service) again(ctx context.Context, p *notify.PhonePage, digit string, now time.Time) (a answer, err error) {
	m, stale, err := s.Notify.Again(ctx, p, now)
	switch {
	case err != nil:
		return a, err
	case stale != "":
		return answer{text: "Nothing is left to do: " + stale.English() + "."}, nil
	case digit != sender.DigitRepeat:
		a.text = "This digit has no meaning here. "
	}
	return answer{a.text + string(m.Text), m.Phone}, nil
}

// escalate brings the next step of the escalation, if the person may read the incident.
func (s *Service) escalate(ctx context.Context, p *notify.PhonePage, now time.Time) (text string, err error) {
	if !p.One() {
		return "Not escalated: this is about several incidents.", nil
	}
	err = s.DB.WriteOf(ctx, p.Account, func(tx *db.Tx) error {
		i, err := s.Notify.Readable(tx, p)
		switch kind := fault.KindOf(err); {
		case err == nil:
			text, err = s.Escalation.NextStep(tx, &i, &p.Notification, now)
		case kind == fault.NotFound || kind == fault.AccessDenied:
			text, err = "Not escalated: the incident does not exist any more, or you may not read it.", nil
		}
		return err
	})
	return text, err
}

// maxBody is the most bytes of a request.
const maxBody = 64 << 10

// body reads the body of a request; ok is false if it was refused.
func body(w http.ResponseWriter, r *http.Request) (text []byte, ok bool) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("the body has more than %d bytes", maxBody), http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
	}
	return text, err == nil
}

// page returns the page that a request is about; ok is false if it was refused.
func (s *Service) page(w http.ResponseWriter, r *http.Request) (p notify.PhonePage, ok bool) {
	account, id, err := s.Notify.Links.RedeemPhone(r.PathValue("token"), s.Clock.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return p, false
	}
	err = s.DB.Snapshot(r.Context(), func(tx *db.Tx) (err error) {
		p, ok, err = notify.PageOf(tx, account, id)
		return err
	})
	switch {
	case err != nil:
		s.fail(w, "the page of a telephone callback cannot be read", err)
	case !ok:
		http.Error(w, "the message does not exist any more", http.StatusNotFound)
	}
	return p, ok && err == nil
}

// fail replies that a request failed for a reason of the server's own.
func (s *Service) fail(w http.ResponseWriter, what string, err error) {
	s.Log.Error(what, "error", err)
	status := http.StatusInternalServerError
	if fault.KindOf(err) == fault.Unavailable {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, "failed; try again", status)
}

// store stores what the telephone service reports about the page of a request, and replies.
func (s *Service) store(w http.ResponseWriter, r *http.Request, d sender.Delivery) {
	account, id, err := s.Notify.Links.RedeemPhone(r.PathValue("token"), s.Clock.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	known := false
	err = s.DB.WriteOf(r.Context(), account, func(tx *db.Tx) error {
		p, found, err := notify.PageOf(tx, account, id)
		if err != nil || !found {
			return err
		}
		known, err = s.Notify.Delivered(tx, &p, d, s.Clock.Now())
		return err
	})
	switch {
	case err != nil:
		s.fail(w, "a delivery state cannot be stored", err)
	case !known:
		http.Error(w, "there is no message with this id", http.StatusNotFound)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
