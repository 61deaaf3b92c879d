package escalation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
)

// Event types of the messages to chats about a silence that a responder made.
const (
	silenceBegins = "silence_begins"
	silenceUndone = "silence_undone"
)

// silenced informs the chats of the channel that a person silenced alerts.
func (r *Service) silenced(tx *db.Tx, item activity.Item, e activity.Silenced) error {
	zone, err := person.Zone(tx, item.Account)
	if err != nil {
		return err
	}
	return r.aboutSilence(tx, item, silenceBegins, e.RuleID, e.Until, func(who, in string) (subject, text string) {
		until := time.Unix(e.Until, 0).In(zone).Format("Mon 2 Jan 15:04 MST")
		text = fmt.Sprintf("%s silenced %s in %s for %s, until %s: %s.", who, e.Title, in, minutes(e.Minutes), until, matched(e.Labels))
		if e.Severity != event.Critical {
			text += fmt.Sprintf(" It holds up to %s: what gets worse is not silenced.", e.Severity)
		}
		return "Silenced: " + e.Title, text
	})
}

// undone informs the chats of the channel that a person ended a responder's silence.
func (r *Service) undone(tx *db.Tx, item activity.Item, e activity.SilenceUndone) error {
	return r.aboutSilence(tx, item, silenceUndone, e.RuleID, 0, func(who, in string) (subject, text string) {
		return "Silence ended: " + e.RuleName, fmt.Sprintf("%s ended the silence %s in %s.", who, e.RuleName, in)
	})
}

// aboutSilence stores a notification about a silence rule to each chat of the channel's enabled escalation rules, once. The
// feeds of an alert and of its incident both have the event, but each chat gets one message. The message is stale when the
// silence does not end at until any more (Unix seconds); 0: never.
func (r *Service) aboutSilence(
	tx *db.Tx, item activity.Item, what, rule string, until int64, words func(who, in string) (subject, text string),
) error {
	ch, found, err := channel.Find(tx, item.Account, item.Channel)
	if err != nil || !found {
		return err
	}
	p, _, err := notify.Find(tx, item.Account, item.Person)
	if err != nil {
		return err
	}
	subject, text := words(p.Name, ch.ChannelName)
	rules, err := channel.Escalates.Of(tx, item.Account, strconv.FormatInt(item.Channel, 10))
	if err != nil {
		return err
	}
	for i := range rules {
		if rules[i].Status != "enabled" {
			continue
		}
		n := notify.Notification{
			Account: item.Account, Key: fmt.Sprintf("silence/%s/%s", rule, what), Event: what, Cause: notify.Silenced,
			Reason: sentence.New("chat_named"), Detail: notify.Detail{Rule: rule, Subject: sender.Cut(subject, 200), Text: text, Moment: until},
		}
		if err := r.chatsOf(tx, &rules[i], n, item.At); err != nil {
			return err
		}
	}
	return nil
}

// chatsOf stores a notification to each chat of a rule. A chat that several layers or rules name gets one message. A rule
// whose secrets cannot be opened is left out: its pages report that.
func (r *Service) chatsOf(tx *db.Tx, rule *channel.EscalateRule, n notify.Notification, now time.Time) error {
	if channel.Escalates.Open(r.Keyring, n.Account, rule) != nil {
		return nil
	}
	prefix := n.Key
	for _, layer := range rule.Layers {
		for _, hook := range layer.Target.Webhooks {
			if hook.Type == "webhook" {
				continue // the address of a program, which waits for incidents
			}
			for _, chat := range notify.Chats(n.Account, hook.Type, hook.Settings) {
				if chat.Lacks != "" {
					continue
				}
				address, err := json.Marshal(chat.Address)
				if err != nil {
					return err
				}
				sum := sha256.Sum256(append(address, chat.Method...))
				n.Key = prefix + "/w" + hex.EncodeToString(sum[:8])
				n.Method = chat.Method
				n.Address = chat.Address
				if err := r.Notify.Put(tx, n, now); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// minutes returns a number of minutes in words.
func minutes(n int64) string {
	if n == 1 {
		return "1 minute"
	}
	return fmt.Sprintf("%d minutes", n)
}

// longLabel is how many characters of a label's value a message shows.
const longLabel = 100

// matched returns in words which alerts a silence matches: alerts of a key, or alerts with labels.
func matched(labels map[string]string) string {
	if len(labels) == 0 {
		return "events of the same alert"
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, name+" "+sender.Cut(labels[name], longLabel))
	}
	return "every alert with " + strings.Join(pairs, ", ")
}
