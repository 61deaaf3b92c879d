package silencewarning

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/triage"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// ends is what is told, as messages name it.
const ends = "silence_ends"

// key begins the keys of all notices of one end.
func key(rule string, end int64) string { return fmt.Sprintf("silence/%s/%s/%d", rule, ends, end) }

// ending is a silence that is about to end.
type ending struct {
	rule    channel.SilenceRule
	channel channel.Channel
	titles  []string // of the alerts that its end lets out
}

// look finds out what there is to tell of a silence that ends at a moment (Unix seconds); over says why there is
// nothing. It matches filters, so it must not be called in a write transaction.
func look(ctx context.Context, d *db.DB, configs *triage.Configs, account int64, rule string, end int64, now time.Time) (e ending, over string, err error) {
	err = d.Snapshot(ctx, func(tx *db.Tx) (err error) {
		e, over, err = find(tx, account, rule, end, now)
		return err
	})
	if err != nil || over != "" {
		return e, over, err
	}
	e.titles, err = configs.ReleasedBy(ctx, account, e.rule.ChannelID, rule, end, now)
	if len(e.titles) == 0 {
		over = "the silence holds nothing back"
	}
	return e, over, err
}

// find reads a silence and its channel.
func find(tx *db.Tx, account int64, rule string, end int64, now time.Time) (e ending, over string, err error) {
	var found bool
	e.rule, found, err = channel.Silences.Find(tx, account, rule)
	if err != nil || !found {
		return e, "the silence was removed", err
	}
	switch once := e.rule.TimeFilter; {
	case e.rule.Status != "enabled":
		return e, "the silence is disabled", nil
	case once == nil || once.EndTime != end:
		return e, "the silence ends at another time", nil
	case end <= now.Unix():
		return e, "the silence has ended", nil
	}
	if e.channel, found, err = channel.Find(tx, account, e.rule.ChannelID); err != nil || !found {
		return e, "the channel was removed", err
	}
	return e, "", nil
}

// tell tells whoever made a silence what there is to tell; told says whether there was somebody.
func (r *Service) tell(tx *db.Tx, w row, e ending, now time.Time) (told bool, err error) {
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
	return true, r.Notify.Tell(tx, p, nil, "Info", notify.Notification{
		Account: w.account, Key: key(w.rule, w.end), Event: ends, Cause: notify.Silence, Reason: why,
		Detail: notify.Detail{Rule: w.rule, RuleName: e.rule.RuleName, Subject: subject, Text: text, Moment: w.end},
	}, now)
}

// words are what is told of a silence that ends at a moment, as its reader's clock shows it.
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
	text = fmt.Sprintf("The silence %s in channel %s ends %s. %s still active under it and will page then: %s", e.rule.RuleName, e.channel.ChannelName, at, alerts, strings.Join(list, "; "))
	if more := len(e.titles) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("Silence %s in %s ends %s", e.rule.RuleName, e.channel.ChannelName, at), text + "."
}

// reader is who is told of the silence, and why: who changed it last, which is how it was made too, or else the
// account's owner. There may be none: then the person's ID is 0.
func (e ending) reader(tx *db.Tx, account int64) (p notify.Person, why string, err error) {
	p, found, err := e.may(tx, account, e.rule.UpdatedBy)
	if err != nil || found {
		return p, "made the silence, or changed it last", err
	}
	owner, err := auth.OwnerOf(tx, account)
	if err != nil {
		return p, "", err
	}
	p, _, err = e.may(tx, account, owner)
	return p, "the account's owner: who made the silence has left or may not read it", err
}

// may finds a person who may read the silence.
func (e ending) may(tx *db.Tx, account, person int64) (p notify.Person, found bool, err error) {
	if p, found, err = notify.Find(tx, account, person); err != nil || !found {
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

// Stale returns why a notification about a silence need not be sent any more; empty: it is sent. What cannot be found out
// was true when the notification was made.
func Stale(d *db.DB, configs *triage.Configs, n *notify.Notification, now time.Time) string {
	if n.Cause != notify.Silence {
		return ""
	}
	ctx := context.Background()
	e, over, err := look(ctx, d, configs, n.Account, n.Detail.Rule, n.Detail.Moment, now)
	switch {
	case err != nil:
		return ""
	case over != "":
		return over
	}
	found := true
	err = d.Snapshot(ctx, func(tx *db.Tx) (err error) {
		_, found, err = e.may(tx, n.Account, n.Person)
		return err
	})
	if err == nil && !found {
		return "the person has left or may not read the silence"
	}
	return ""
}
