package explain

import (
	"fmt"
	"strings"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/engine/notify"
)

// sentences describe the outcomes; %s is the channel's name.
var sentences = map[decide.Outcome]string{
	decide.Discarded: "its integration's pipeline dropped it",
	decide.Unrouted:  "no channel accepts it",
	decide.Dropped:   "it was dropped in channel %s",
	decide.Repeated:  "it changed nothing and refreshed its alert in channel %s",
	decide.Silenced:  "it was silenced in channel %s: its alert is kept and no person is notified",
	decide.Inhibited: "another alert inhibits it in channel %s: its alert is kept and no person is notified",
	decide.Flapping:  "its alert in channel %s changes too often, so no person is notified",
	decide.Opened:    "it opened an incident in channel %s",
	decide.Grouped:   "it became part of an incident in channel %s",
	decide.Recovered: "it ended its alert in channel %s",
	decide.Unmatched: "there was no open alert for it to end in channel %s",
	decide.Failed:    "it could not be decided",
}

// describeVerdicts adds a sentence for each verdict, with the last rule that matched.
func (x *Explanation) describeVerdicts(c *api.Call) error {
	for _, v := range x.Verdicts {
		what := sentences[decide.Outcome(v.Outcome)]
		if strings.Contains(what, "%s") {
			ch, found, err := channel.Find(c.Tx, c.Who.AccountID, v.ChannelID)
			if err != nil {
				return err
			}
			if !found {
				ch.ChannelName = fmt.Sprintf("%d, which was deleted", v.ChannelID)
			}
			what = fmt.Sprintf(what, ch.ChannelName)
		}
		subject := fmt.Sprintf("event %s %q", v.EventID, v.Title)
		if v.EventID == "" {
			subject = fmt.Sprintf("alert %s %q was decided again", v.AlertID, v.Title)
		}
		because := ""
		for _, s := range v.Trace {
			if s.Matched {
				because = fmt.Sprintf(", because of %s: %s", strings.TrimSpace(s.Stage+" "+s.Name), s.Why)
			}
		}
		if because == "" && len(v.Trace) > 0 {
			because = ": " + v.Trace[len(v.Trace)-1].Why
		}
		x.Words = append(x.Words, fmt.Sprintf("%s, %s: %s%s.", when(v.DecidedAt/1000), subject, what, because))
	}
	return nil
}

// when returns a moment (Unix seconds) as sentences show it.
func when(seconds int64) string { return time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04:05 UTC") }

// words describes a notification.
func (n Notice) words() string {
	who := n.PersonName
	if who == "" {
		who = "a chat or address"
	}
	text := fmt.Sprintf("%s (%s) over %s: %s", who, n.Reason, n.Method, n.Status)
	switch {
	case n.Status == notify.Waiting:
		text += ", due " + when(n.DueAt/1000)
	case n.Outcome != "" && n.Status != notify.Sent:
		text += ", " + n.Outcome
	}
	return text
}

// sentence describes an entry of a feed; empty when the explanation shows it elsewhere or not at all.
func sentence(c *api.Call, e activity.Entry) (string, error) {
	by, to := "", ""
	if e.Person != 0 {
		name, err := personName(c, e.Person)
		if err != nil {
			return "", err
		}
		by = " by person " + name
	}
	if a, ok := e.Event.(activity.Assigned); ok {
		var err error
		if to, err = persons(c, a.To); err != nil {
			return "", err
		}
	}
	return describe(e.Event, by, to), nil
}

// describe describes an event of an incident; by is the person who caused it, to those it was assigned to.
func describe(e activity.Event, by, to string) string {
	switch e := e.(type) {
	case activity.Opened:
		return "it was opened" + by
	case activity.Acknowledged:
		return "it was acknowledged" + by
	case activity.Unacknowledged:
		return "its acknowledgement was taken back" + by
	case activity.Snoozed:
		return fmt.Sprintf("it was snoozed for %d minutes%s", e.Minutes, by)
	case activity.Woken:
		return "its snooze ended" + by
	case activity.Resolved:
		return fmt.Sprintf("it was resolved (%s)%s", e.From, by)
	case activity.Reopened:
		return "it was opened again" + by
	case activity.SeverityChanged:
		return fmt.Sprintf("its severity became %s%s", e.To, by)
	case activity.Stormed:
		return fmt.Sprintf("a storm: it has %d alerts", e.Threshold)
	case activity.Exhausted:
		return e.Reason
	case activity.Joined:
		return fmt.Sprintf("alerts join it, first %s: its responders are notified of them in one message at %s", e.Title, when(e.Until))
	case activity.Notified:
		if e.By == "nobody" {
			return fmt.Sprintf("layer %d of %s had no person to notify (%s) and did: %s", e.LayerIdx, e.EscalateRuleName, e.Reason, e.Then)
		}
	case activity.Assigned:
		return fmt.Sprintf("it was assigned (%s) to %s", e.How, to)
	}
	return ""
}

// persons lists persons by name.
func persons(c *api.Call, ids []int64) (string, error) {
	if len(ids) == 0 {
		return "others", nil
	}
	var texts []string
	for _, id := range ids {
		name, err := personName(c, id)
		if err != nil {
			return "", err
		}
		texts = append(texts, "person "+name)
	}
	return strings.Join(texts, ", "), nil
}

// personName returns the name of a person, or the number of one who has left.
func personName(c *api.Call, id int64) (string, error) {
	p, found, err := notify.Find(c.Tx, c.Who.AccountID, id)
	if err != nil {
		return "", err
	}
	if !found {
		return fmt.Sprintf("%d, who has left", id), nil
	}
	return p.Name, nil
}
