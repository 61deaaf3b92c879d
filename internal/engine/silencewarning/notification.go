package silencewarning

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/triage"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// ends is the event type of these notifications.
const ends = "silence_ends"

// key returns the prefix of the keys of all notifications about one end.
func key(rule string, end int64) string { return fmt.Sprintf("silence/%s/%s/%d", rule, ends, end) }

// ending is a silence that is about to end.
type ending struct {
	rule    channel.SilenceRule
	channel channel.Channel
	titles  []string // of the alerts that page when it ends
}

// ending reads a silence that ends at a moment (Unix seconds), and the alerts that it holds back. over is why no warning
// is needed; empty when one is. It matches filters, which takes time, so it must not be called in a write transaction.
func readEnding(
	ctx context.Context, d *db.DB, configs *triage.Configs, account int64, rule string, end int64, now time.Time,
) (e ending, over sentence.Value, err error) {
	err = d.Snapshot(ctx, func(tx *db.Tx) (err error) {
		e, over, err = find(tx, account, rule, end, now)
		return err
	})
	if err != nil || over != "" {
		return e, over, err
	}
	e.titles, err = configs.ReleasedBy(ctx, account, e.rule.ChannelID, rule, end, now)
	if len(e.titles) == 0 {
		over = sentence.New("silence_nothing")
	}
	return e, over, err
}

// find reads a silence and its channel, and checks that it is enabled and ends at that moment.
func find(tx *db.Tx, account int64, rule string, end int64, now time.Time) (e ending, over sentence.Value, err error) {
	var found bool
	e.rule, found, err = channel.Silences.Find(tx, account, rule)
	if err != nil || !found {
		return e, sentence.New("silence_removed"), err
	}
	switch once := e.rule.TimeFilter; {
	case e.rule.Status != "enabled":
		return e, sentence.New("silence_disabled"), nil
	case once == nil || once.EndTime != end:
		return e, sentence.New("silence_moved"), nil
	case end <= now.Unix():
		return e, sentence.New("silence_ended"), nil
	}
	e.channel, found, err = channel.Find(tx, account, e.rule.ChannelID)
	if err != nil || !found {
		return e, sentence.New("channel_removed"), err
	}
	return e, "", nil
}

// warn stores the warning about a silence. stored is false when there is no person to warn.
func (r *Service) warn(tx *db.Tx, w row, e ending, now time.Time) (stored bool, err error) {
	p, why, err := e.reader(tx, w.account)
	if err != nil || p.ID == 0 {
		return false, err
	}
	zone, err := person.Zone(tx, w.account)
	if err == nil && p.TimeZone != "" {
		zone, err = time.LoadLocation(p.TimeZone)
	}
	if err != nil {
		return false, err
	}
	subject, text := e.words(time.Unix(w.end, 0).In(zone).Format("Mon 2 Jan 15:04 MST"))
	return true, r.Notify.PutFor(tx, p, nil, "Info", notify.Notification{
		Account: w.account, Key: key(w.rule, w.end), Event: ends, Cause: notify.Silence, Reason: why,
		Detail: notify.Detail{Rule: w.rule, RuleName: e.rule.RuleName, Subject: subject, Text: text, Moment: w.end},
	}, now)
}

// words returns the subject and the text of the warning; at is the end as text, in the reader's time zone.
func (e ending) words(at string) (subject, text string) {
	const most, long = 5, 100 // titles, and characters of each
	list := make([]string, 0, most)
	for _, title := range e.titles[:min(len(e.titles), most)] {
		list = append(list, sender.Cut(title, long))
	}
	alerts := "1 alert is"
	if n := len(e.titles); n > 1 {
		alerts = fmt.Sprintf("%d alerts are", n)
	}
	text = fmt.Sprintf("The silence %s in channel %s ends %s. %s still active under it and will page then: %s",
		e.rule.RuleName, e.channel.ChannelName, at, alerts, strings.TrimRight(strings.Join(list, "; "), "."))
	if more := len(e.titles) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("Silence %s in %s ends %s", e.rule.RuleName, e.channel.ChannelName, at), text + "."
}

// reader returns the person to warn, and why: the person who created or last changed the silence, or else the account's
// owner. The person's ID is 0 when there is none.
func (e ending) reader(tx *db.Tx, account int64) (p notify.Person, why sentence.Value, err error) {
	p, found, err := e.permitted(tx, account, e.rule.UpdatedBy)
	if err != nil || found {
		return p, sentence.New("made_silence"), err
	}
	owner, err := auth.OwnerOf(tx, account)
	if err != nil {
		return p, "", err
	}
	p, _, err = e.permitted(tx, account, owner)
	return p, sentence.New("owner_for_maker"), err
}

// permitted returns a person, if the person may read the silence's channel.
func (e ending) permitted(tx *db.Tx, account, person int64) (p notify.Person, found bool, err error) {
	p, found, err = notify.Find(tx, account, person)
	if err != nil || !found {
		return p, false, err
	}
	who, err := notify.Reader(tx, account, person)
	if err != nil {
		return p, false, err
	}
	err = channel.Permit(tx, who, e.channel)
	if err != nil && fault.KindOf(err) == fault.AccessDenied {
		return notify.Person{}, false, nil
	}
	return p, err == nil, err
}

// Stale returns why a notification about a silence must not be sent any more; empty when it is sent. If the present state
// cannot be read, the notification is sent: it was true when it was stored.
func Stale(d *db.DB, configs *triage.Configs, n *notify.Notification, now time.Time) sentence.Value {
	ctx := context.Background()
	switch {
	case n.Cause == notify.Silenced && n.Detail.Moment > 0: // a message about a silence that is over would mislead
		return stillHolds(ctx, d, n, now)
	case n.Cause != notify.Silence:
		return ""
	}
	e, over, err := readEnding(ctx, d, configs, n.Account, n.Detail.Rule, n.Detail.Moment, now)
	switch {
	case err != nil:
		return ""
	case over != "":
		return over
	}
	found := true
	err = d.Snapshot(ctx, func(tx *db.Tx) (err error) {
		_, found, err = e.permitted(tx, n.Account, n.Person)
		return err
	})
	if err == nil && !found {
		return sentence.New("may_not_read_silence")
	}
	return ""
}

// stillHolds returns why a notification's silence does not hold any more; empty when the silence holds, or cannot be read.
func stillHolds(ctx context.Context, d *db.DB, n *notify.Notification, now time.Time) (over sentence.Value) {
	err := d.Snapshot(ctx, func(tx *db.Tx) (err error) {
		_, over, err = find(tx, n.Account, n.Detail.Rule, n.Detail.Moment, now)
		return err
	})
	if err != nil {
		return ""
	}
	return over
}
