package shiftnotice

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/channel"
	"tocsin/internal/core/oncall"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
	"tocsin/internal/schedule"
)

// What is told, as messages name it.
const (
	begins  = "shift_begin"
	ends    = "shift_end"
	changes = "shift_change" // to chats: who leaves and who takes over
	today   = "shift_daily"
)

// teller tells of one schedule.
type teller struct {
	room              *Service
	tx                *db.Tx
	account, schedule int64
	turns             *schedule.Shifts
	now               time.Time
}

// text is what is told, by the clock on the reader's wall.
type text func(clock func(unix int64) string) (subject, body string)

// change tells those who take over, those who leave, and the chats. Of what is past only what still holds
// is told.
func (t *teller) change(c change) error {
	comers, goers := c.comers(), c.goers()
	if len(comers)+len(goers) == 0 {
		return nil
	}
	past := c.at <= t.now.Unix()
	coming, err := t.names(comers)
	if err != nil {
		return err
	}
	going, err := t.names(goers)
	if err != nil {
		return err
	}
	still, _ := t.turns.Timeline.At(max(c.at, t.now.Unix()))
	if c.in != nil {
		turn := ahead{t.turns.Timeline, []*oncall.Piece{c.in}}
		for _, id := range comers {
			until := turn.until(id)
			if until > 0 && until <= t.now.Unix() {
				continue
			}
			err := t.person(begins, c.at, id, func(clock func(int64) string) (string, string) {
				return "On call in " + t.turns.Name + " from " + clock(c.at),
					sentence(past, "You are on call in %s since %s", "You are on call in %s from %s", t.turns.Name, clock(c.at)) +
						ending(until, clock) + "." + sentenceIf(going, past, " You took over from %s.", " You take over from %s.")
			})
			if err != nil {
				return err
			}
		}
	}
	for _, id := range goers {
		if on(still, id) {
			continue
		}
		err := t.person(ends, c.at, id, func(clock func(int64) string) (string, string) {
			body := sentence(past, "Your turn on call in %s ended %s.", "Your turn on call in %s ends %s.", t.turns.Name, clock(c.at))
			if c.in == nil {
				return "On call in " + t.turns.Name + " until " + clock(c.at), body + " Nobody is on call after you."
			}
			return "On call in " + t.turns.Name + " until " + clock(c.at), body + sentenceIf(coming, past, " %s took over.", " %s will take over.")
		})
		if err != nil {
			return err
		}
	}
	if past {
		if later, found := next(t.turns.Timeline, c.at); found && later.at <= t.now.Unix() {
			return nil // a chat need not know what has changed again
		}
	}
	return t.chats(changes, c.at, fmt.Sprint(comers, goers), func(clock func(int64) string) (string, string) {
		body := sentence(past, "The turn in %s changed %s.", "The turn in %s changes %s.", t.turns.Name, clock(c.at))
		body += sentenceIf(coming, past, " On call now: %s.", " On call from then on: %s.") + sentenceIf(going, past, " Not any more: %s.", " Until then: %s.")
		if c.in == nil {
			body += sentence(past, " Nobody is on call now.", " Nobody is on call after that.")
		}
		return "Shift change in " + t.turns.Name + " " + clock(c.at), body
	})
}

// everybody tells those who are on call, and the chats. The moment is that of the day's telling.
func (t *teller) everybody(moment int64) error {
	now, _ := t.turns.Timeline.At(t.now.Unix())
	ids := everybody(now)
	if len(ids) == 0 {
		return nil
	}
	turn := ahead{t.turns.Timeline, []*oncall.Piece{now}}
	for _, id := range ids {
		err := t.person(today, moment, id, func(clock func(int64) string) (string, string) {
			return "On call in " + t.turns.Name, "You are on call in " + t.turns.Name + ending(turn.until(id), clock) + "."
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
		return "On call in " + t.turns.Name, "On call in " + t.turns.Name + ": " + names + ", at " + clock(t.now.Unix()) + "."
	})
}

// person makes the notices to one person, over every way that is wanted.
func (t *teller) person(what string, moment, id int64, words text) error {
	p, found, err := notify.Find(t.tx, t.account, id)
	if err != nil || !found {
		return err
	}
	by, err := t.by(id)
	if err != nil {
		return err
	}
	zone := t.turns.Timeline.Zone
	if own, err := time.LoadLocation(p.TimeZone); err == nil && p.TimeZone != "" {
		zone = own
	}
	n := t.notice(what, moment, words, zone)
	n.Key, n.Reason = fmt.Sprintf("%s/p%d", n.Key, id), reasons[what]
	return t.room.Notify.Tell(t.tx, p, by, "Info", n, t.now)
}

var reasons = map[string]string{begins: "takes over", ends: "leaves", today: "on call", changes: "a chat named by the schedule"}

// by is how the schedule wants a person to be told: over the channels it names, or as the person prefers to be
// told of turns; who prefers nothing gets an e-mail.
func (t *teller) by(person int64) (*channel.By, error) {
	var methods []string
	if by := t.turns.Notify.By; by != nil && !by.FollowPreference && by.PersonalChannels != nil {
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

// chats makes the notices to the chats of the schedule. One that was told of other persons at this moment is
// told again: unlike says which persons.
func (t *teller) chats(what string, moment int64, unlike string, words text) error {
	hooks, err := t.turns.Chats(t.room.Keyring)
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
			n := t.notice(what, moment, words, t.turns.Timeline.Zone)
			n.Key, n.Method = fmt.Sprintf("%s/w%d/%s%s", n.Key, i, hex.EncodeToString(sum[:6]), chat.Suffix), chat.Method
			n.Address, n.Reason = chat.Address, reasons[changes]
			if chat.Lacks != "" {
				err = t.room.Notify.Refuse(t.tx, n, chat.Lacks, t.now)
			} else {
				err = t.room.Notify.Put(t.tx, n, t.now)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *teller) notice(what string, moment int64, words text, zone *time.Location) notify.Notification {
	subject, body := words(func(unix int64) string { return time.Unix(unix, 0).In(zone).Format("Mon 2 Jan 15:04 MST") })
	return notify.Notification{
		Account: t.account, Key: fmt.Sprintf("shift/%d/%s/%d", t.schedule, what, moment), Schedule: t.schedule, Event: what, Cause: notify.Shift,
		Detail: notify.Detail{Subject: subject, Text: body, Moment: moment, Until: max(moment, t.now.Unix()) + late},
	}
}

// Stale returns why a notification of a shift need not be sent any more; empty: it is sent. What cannot be found out was
// true when the notification was made.
func Stale(d *db.DB, n *notify.Notification, now time.Time) (why string) {
	if n.Cause != notify.Shift {
		return ""
	}
	err := d.Snapshot(context.Background(), func(tx *db.Tx) error {
		why = lapsed(tx, n, now)
		return nil
	})
	if err != nil {
		return ""
	}
	return why
}

func lapsed(tx *db.Tx, n *notify.Notification, now time.Time) string {
	zone, err := person.Zone(tx, n.Account)
	if err != nil {
		return ""
	}
	turns, err := schedule.FindTurns(tx, n.Account, n.Schedule, zone)
	switch {
	case err != nil:
		return ""
	case turns == nil:
		return "the schedule was removed"
	case turns.Disabled:
		return "the schedule is disabled"
	case now.Unix() > n.Detail.Until:
		return "it could not be told in time"
	case n.Person == 0:
		return ""
	}
	then, _ := turns.Timeline.At(max(n.Detail.Moment, now.Unix()))
	switch serves := on(then, n.Person); {
	case serves && n.Event == ends:
		return "the person stays on call"
	case !serves && n.Event != ends:
		return "the person is not on call"
	}
	return ""
}

// names lists persons for people, three of them by name.
func (t *teller) names(ids []int64) (string, error) {
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

func ending(until int64, clock func(int64) string) string {
	if until == 0 {
		return ""
	}
	return " until " + clock(until)
}

// sentence fills in what is said of the past, or of the future.
func sentence(past bool, was, will string, words ...any) string {
	if past {
		return fmt.Sprintf(was, words...)
	}
	return fmt.Sprintf(will, words...)
}

// sentenceIf is a sentence about names, and nothing when there are none.
func sentenceIf(names string, past bool, was, will string) string {
	if names == "" {
		return ""
	}
	return sentence(past, was, will, names)
}
