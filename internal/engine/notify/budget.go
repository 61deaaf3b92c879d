package notify

import (
	"slices"
	"time"

	"tocsin/internal/core/event"
)

// Budget is how many messages a person gets within a minute over one method, and a chat likewise. Notifications beyond
// it are bundled into one message.
type Budget struct {
	Urgent int // over voice, sms, ntfy and push, there to each browser
	Other  int // over each other method
}

// DefaultBudget holds unless the deployment sets another.
var DefaultBudget = Budget{Urgent: 5, Other: 10}

// The bounds of a budget. The second message of a minute is kept for pages.
const (
	MinBudget = 2
	MaxBudget = 100
)

// maxBundle is the most notifications that share a message: the result of each is stored in one transaction.
const maxBundle = 1000

// window is the time in which messages are counted.
const window = time.Minute

// of returns the budget of a method.
func (b Budget) of(method string) int {
	switch method {
	case "voice", "sms", "ntfy", "push":
		return b.Urgent
	}
	return b.Other
}

// gap returns the least time between two messages over a method to a recipient. A telephone takes one call at a time: calls are
// spread over the minute, and notifications that wait for the next call share it.
func (b Budget) gap(method string) time.Duration {
	if method == "voice" {
		return window / time.Duration(b.Urgent)
	}
	return 0
}

// The values of urgency. Those up to lastPage ask a person to act.
const (
	lastPage  = 2
	plainNews = 3
	recovery  = 4
	acked     = 5
	mergers   = 6
)

// urgencyOf returns the order in which a notification is sent.
func urgencyOf(n *Notification) int64 {
	switch {
	case n.Cause == Recovery:
		return recovery
	case n.Cause == Acked:
		return acked
	case n.Cause == Merged:
		return mergers
	case n.Incident == "" && n.Cause != Fallback:
		return plainNews
	}
	return int64(min(event.Rank(event.Critical)-event.Rank(n.Severity), lastPage))
}

// member is a notification that waits, alone or in a bundle.
type member struct {
	Notification
	target, detail string // as they are stored
	urgency        int64
	late           bool   // it waited for the budget, or what it is about was due long ago
	bundle         string // the bundle in which it was tried; empty: none
}

// class groups the urgencies of notifications that may share a message.
type class struct {
	from, to int64
	name     string // part of the key of a bundle
}

var classes = []class{{0, lastPage, "page"}, {plainNews, plainNews, "news"}, {recovery, recovery, "over"}, {acked, acked, "acked"},
	{mergers, mergers, "merged"}}

// limit returns how many messages of a minute a class may use. The last one is kept for pages.
func (c class) limit(budget int) int {
	if c.from > lastPage {
		return budget - 1
	}
	return budget
}

// plan divides the notifications that wait for a recipient into the messages that may be sent now; sent is how many
// messages the last minute had. rows are sorted, the most severe first.
// most is how many of them may be sent together.
func plan(rows []*member, budget, sent, most int) (messages [][]*member) {
	for _, c := range classes {
		var own []*member
		for _, m := range rows {
			if m.urgency >= c.from && m.urgency <= c.to {
				own = append(own, m)
			}
		}
		messages = append(messages, divide(own, min(c.limit(budget)-sent, most)-len(messages))...)
	}
	return messages
}

// divide divides notifications of one class into at most free messages. What was tried before is tried again as the same
// message. Each other incident is a message by itself while free messages are left; the last one takes all the rest.
// What had to wait is one message. When there are more messages to try again than may be sent, all become one.
func divide(rows []*member, free int) [][]*member {
	if free <= 0 || len(rows) == 0 {
		return nil
	}
	kept, late, fresh := units(rows)
	others := min(1, len(late)+len(fresh))
	if len(kept)+others > free {
		return [][]*member{rows[:min(len(rows), maxBundle)]}
	}
	messages := kept
	free -= len(kept)
	switch {
	case len(late) == 0:
	case len(fresh) == 0 || free > 1:
		messages = append(messages, slices.Concat(late...))
		free--
	default:
		fresh = append(late, fresh...)
	}
	if len(fresh) > free {
		fresh = append(fresh[:free-1:free-1], slices.Concat(fresh[free-1:]...))
	}
	return append(messages, fresh...)
}

// units splits notifications into the smallest groups that may be sent separately: the messages that were tried before, and the
// notifications of each incident that are late or were not tried yet.
func units(rows []*member) (kept, late, fresh [][]*member) {
	at := map[string]int{}
	add := func(list *[][]*member, key string, m *member) {
		n, found := at[key]
		if !found {
			n = len(*list)
			at[key] = n
			*list = append(*list, nil)
		}
		(*list)[n] = append((*list)[n], m)
	}
	for _, m := range rows {
		same := m.Incident + "/" + m.Event
		if m.Incident == "" {
			same = m.ID
		}
		switch {
		case m.bundle != "":
			add(&kept, "bundle/"+m.bundle, m)
		case m.Attempts > 0:
			add(&kept, "tried/"+m.ID, m)
		case m.late:
			add(&late, "late/"+same, m)
		default:
			add(&fresh, "fresh/"+same, m)
		}
	}
	return kept, late, fresh
}

// together returns how many messages may be sent now, with a gap between two of them. sends is as in nextFree.
func together(sends []int64, budget int, gap time.Duration, now time.Time) int {
	switch {
	case gap == 0:
		return budget
	case len(sends) > 0 && now.UnixMilli()-sends[len(sends)-1] < gap.Milliseconds():
		return 0
	}
	return 1
}

// nextFree returns when fewer than limit messages will have been sent within a minute; zero: that is so now. sends are
// sorted, in Unix milliseconds.
func nextFree(sends []int64, limit int) (at int64) {
	if len(sends) < limit {
		return 0
	}
	return sends[len(sends)-limit] + window.Milliseconds()
}
