package shiftnotice

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/channel"
	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
	"tocsin/internal/schedule"
)

// Event types of these notifications.
const (
	begins  = "shift_begin"
	ends    = "shift_end"
	changes = "shift_change" // to chats: the persons who leave and who take over
	today   = "shift_daily"
)

// notifier stores the notifications about one schedule.
type notifier struct {
	service           *Service
	tx                *db.Tx
	account, schedule int64
	shifts            *schedule.Shifts
	now               time.Time
}

// text returns a message whose times are written by clock, in the reader's time zone.
type text func(clock func(unix int64) string) (subject, body string)

// change notifies the persons who take over, those who leave, and the chats. For a past change only what still holds is
// sent.
func (t *notifier) change(c change) error {
	incoming, outgoing := c.incoming(), c.outgoing()
	if len(incoming)+len(outgoing) == 0 {
		return nil
	}
	coming, err := t.names(incoming)
	if err != nil {
		return err
	}
	going, err := t.names(outgoing)
	if err != nil {
		return err
	}
	if err := t.begin(c, incoming, going); err != nil {
		return err
	}
	if err := t.end(c, outgoing, coming); err != nil {
		return err
	}
	past := t.past(c)
	if past {
		if later, found := next(t.shifts.Timeline, c.at); found && later.at <= t.now.Unix() {
			return nil // another change has followed: a chat does not need this one
		}
	}
	return t.chats(changes, c.at, fmt.Sprint(incoming, outgoing), func(clock func(int64) string) (string, string) {
		body := tense(past, "The shift in %s changed %s.", "The shift in %s changes %s.", t.shifts.Name, clock(c.at))
		body += tenseIf(coming, past, " On call now: %s.", " On call from then on: %s.")
		body += tenseIf(going, past, " Not any more: %s.", " Until then: %s.")
		if c.in == nil {
			body += tense(past, " Nobody is on call now.", " Nobody is on call after that.")
		}
		return "Shift change in " + t.shifts.Name + " " + clock(c.at), body
	})
}

// past reports whether a change has happened.
func (t *notifier) past(c change) bool { return c.at <= t.now.Unix() }

// begin notifies the persons who take over, unless their shift has ended; going names those who leave.
func (t *notifier) begin(c change, incoming []int64, going string) error {
	if c.in == nil {
		return nil
	}
	past, shift := t.past(c), ahead{t.shifts.Timeline, []*oncall.Piece{c.in}}
	for _, id := range incoming {
		until := shift.until(id)
		if until > 0 && until <= t.now.Unix() {
			continue
		}
		err := t.person(begins, c.at, id, func(clock func(int64) string) (string, string) {
			body := tense(past, "You are on call in %s since %s", "You are on call in %s from %s", t.shifts.Name, clock(c.at))
			body += ending(until, clock) + "." + tenseIf(going, past, " You took over from %s.", " You take over from %s.")
			return "On call in " + t.shifts.Name + " from " + clock(c.at), body
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// end notifies the persons who leave, unless they are on call again; coming names those who take over.
func (t *notifier) end(c change, outgoing []int64, coming string) error {
	past := t.past(c)
	still, _ := t.shifts.Timeline.At(max(c.at, t.now.Unix()))
	for _, id := range outgoing {
		if on(still, id) {
			continue
		}
		err := t.person(ends, c.at, id, func(clock func(int64) string) (string, string) {
			subject := "On call in " + t.shifts.Name + " until " + clock(c.at)
			body := tense(past, "Your on-call shift in %s ended %s.", "Your on-call shift in %s ends %s.", t.shifts.Name, clock(c.at))
			if c.in == nil {
				return subject, body + " Nobody is on call after you."
			}
			return subject, body + tenseIf(coming, past, " %s took over.", " %s will take over.")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// onCallNow notifies the persons who are on call, and the chats. moment is the time of this daily notification.
func (t *notifier) onCallNow(moment int64) error {
	now, _ := t.shifts.Timeline.At(t.now.Unix())
	ids := personsOf(now)
	if len(ids) == 0 {
		return nil
	}
	turn := ahead{t.shifts.Timeline, []*oncall.Piece{now}}
	for _, id := range ids {
		err := t.person(today, moment, id, func(clock func(int64) string) (string, string) {
			return "On call in " + t.shifts.Name, "You are on call in " + t.shifts.Name + ending(turn.until(id), clock) + "."
		})
		if err != nil {
			return err
		}
	}
	names, err := t.names(ids)
	if err != nil {
		return err
	}
	return t.chats(today, moment, "", func(clock func(int64) string) (string, string) {
		return "On call in " + t.shifts.Name, "On call in " + t.shifts.Name + ": " + names + ", at " + clock(t.now.Unix()) + "."
	})
}

// person stores the notifications to one person, one for each method that is wanted.
func (t *notifier) person(what string, moment, id int64, words text) error {
	p, found, err := notify.Find(t.tx, t.account, id)
	if err != nil || !found {
		return err
	}
	if known, err := t.known(what, moment, id); err != nil || known {
		return err
	}
	by, err := t.by(id)
	if err != nil {
		return err
	}
	n := t.notification(what, moment, words, t.zone(p))
	n.Key, n.Reason = fmt.Sprintf("%s/p%d", n.Key, id), reasons[what]
	return t.service.Notify.PutFor(t.tx, p, by, "Info", n, t.now)
}

// recent is how long a message about an override or an absence makes that about the shift superfluous, in seconds.
const recent = 600

// sameAs are the events whose message has the content of one about a shift.
var sameAs = map[string][]string{begins: {covered, standIn, recorded}, ends: {covered, dismissed, recorded}}

// known reports whether a person takes over or leaves at a moment because of an override or an absence of which the person was
// notified just now. Of several messages about the moment the latest counts.
func (t *notifier) known(what string, moment, person int64) (bool, error) {
	if sameAs[what] == nil {
		return false, nil
	}
	var latest notify.Notification
	for _, event := range []string{covered, uncovered, standIn, dismissed, recorded} {
		all, err := notify.WithKey(t.tx, t.account, fmt.Sprintf("shift/%d/%s", t.schedule, event))
		if err != nil {
			return false, err
		}
		for _, n := range all {
			failed := n.Status == notify.Failed || n.Status == notify.Cancelled
			about := n.Person == person && n.Detail.Moment == moment && n.Created/1000 > t.now.Unix()-recent
			if about && !failed && n.Created >= latest.Created {
				latest = n
			}
		}
	}
	return slices.Contains(sameAs[what], latest.Event), nil
}

// zone returns the time zone in which a person reads times.
func (t *notifier) zone(p notify.Person) *time.Location {
	if own, err := time.LoadLocation(p.TimeZone); err == nil && p.TimeZone != "" {
		return own
	}
	return t.shifts.Timeline.Zone
}

var reasons = map[string]sentence.Value{
	begins: sentence.New("shift_takes_over"), ends: sentence.New("shift_leaves"), today: sentence.New("shift_on_call"),
	changes: sentence.New("chat_of_schedule"),
}

// by returns the methods for a person: those that the schedule names, or those that the person prefers for shifts. A
// person without a preference gets an e-mail.
func (t *notifier) by(person int64) (*channel.By, error) {
	var methods []string
	if by := t.shifts.Notify.By; by != nil && !by.FollowPreference && by.PersonalChannels != nil {
		for _, method := range *by.PersonalChannels {
			if method == "phone" {
				method = "voice"
			}
			methods = append(methods, method)
		}
	}
	if len(methods) == 0 {
		p, err := preference.Of(t.tx, t.account, person)
		if err != nil {
			return nil, err
		}
		methods = p.Shift.PersonalChannels
	}
	if len(methods) == 0 {
		methods = []string{"email"}
	}
	return &channel.By{Info: methods}, nil
}

// chats stores the notifications to the chats of the schedule. unlike identifies the persons of the message: a chat that
// was notified of other persons for the same moment is notified again.
func (t *notifier) chats(what string, moment int64, unlike string, words text) error {
	hooks, err := t.shifts.Chats(t.service.Keyring)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(unlike))
	for i, hook := range hooks {
		settings, err := json.Marshal(hook.Settings)
		if err != nil {
			return err
		}
		members := map[string]jsontext.Value{}
		if err := json.Unmarshal(settings, &members); err != nil {
			return err
		}
		for _, chat := range notify.Chats(t.account, hook.Type, members) {
			n := t.notification(what, moment, words, t.shifts.Timeline.Zone)
			n.Key, n.Method = fmt.Sprintf("%s/w%d/%s%s", n.Key, i, hex.EncodeToString(sum[:6]), chat.Suffix), chat.Method
			n.Address, n.Reason = chat.Address, reasons[changes]
			if chat.Lacks != "" {
				err = t.service.Notify.Refuse(t.tx, n, chat.Lacks, t.now)
			} else {
				err = t.service.Notify.Put(t.tx, n, t.now)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// notification returns the notification of an event at a moment, without its target.
func (t *notifier) notification(what string, moment int64, words text, zone *time.Location) notify.Notification {
	subject, body := words(func(unix int64) string { return time.Unix(unix, 0).In(zone).Format("Mon 2 Jan 15:04 MST") })
	return notify.Notification{
		Account:  t.account,
		Key:      fmt.Sprintf("shift/%d/%s/%d", t.schedule, what, moment),
		Schedule: t.schedule,
		Event:    what,
		Cause:    notify.Shift,
		Detail:   notify.Detail{Subject: subject, Text: body, Moment: moment, Until: max(moment, t.now.Unix()) + late},
	}
}

// names returns the names of persons for a sentence, three at most.
func (t *notifier) names(ids []int64) (string, error) {
	const most = 3
	var list []string
	for i, id := range ids {
		if i == most {
			return fmt.Sprintf("%s and %d more", strings.Join(list, ", "), len(ids)-most), nil
		}
		p, found, err := notify.Find(t.tx, t.account, id)
		if err != nil {
			return "", err
		}
		if !found {
			p.Name = fmt.Sprintf("person %d, who has left", id)
		}
		list = append(list, p.Name)
	}
	return strings.Join(list, ", "), nil
}

// ending returns the part of a sentence that names the end; empty when it is not known.
func ending(until int64, clock func(int64) string) string {
	if until == 0 {
		return ""
	}
	return " until " + clock(until)
}

// tense formats the text for a past change, or for a future one.
func tense(past bool, was, will string, words ...any) string {
	if past {
		return fmt.Sprintf(was, words...)
	}
	return fmt.Sprintf(will, words...)
}

// tenseIf is tense for names; empty when there are none.
func tenseIf(names string, past bool, was, will string) string {
	if names == "" {
		return ""
	}
	return tense(past, was, will, names)
}
