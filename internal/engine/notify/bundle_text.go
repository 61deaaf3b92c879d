package notify

import (
	"embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
)

const (
	maxMessage = 1000  // characters of a message about no incident
	maxListed  = 40    // incidents that a bundle lists
	maxMail    = 50000 // bytes of the text of a mail
	maxChat    = 1600  // bytes of the text in a chat: the least that a service takes is 2,000 characters
	maxGroups  = 3     // counts in the first line of a bundle
	maxShort   = 450   // characters of a text message or a call, the link included; gateways cut at 480
)

// head returns the first line of a bundle: how many there are, and most of them by severity and channel.
func (b *bundle) head() string {
	n := b.incidents()
	messages := len(b.items) - n
	if n == 0 {
		return counted(messages, "message") + " of Tocsin"
	}
	type group struct {
		severity, channel string
		count             int
	}
	var groups []group
	for _, i := range b.items[:n] { // messages are behind them
		at := slices.IndexFunc(groups, func(g group) bool { return g.severity == i.Severity && g.channel == i.Channel })
		if at < 0 {
			at, groups = len(groups), append(groups, group{i.Severity, i.Channel, 0})
		}
		groups[at].count++
	}
	slices.SortStableFunc(groups, func(a, c group) int {
		if r := event.Rank(c.severity) - event.Rank(a.severity); r != 0 {
			return r
		}
		return c.count - a.count
	})
	var parts []string
	rest := n
	for _, g := range groups[:min(maxGroups, len(groups))] {
		part := fmt.Sprintf("%d %s", g.count, g.severity)
		if g.channel != "" {
			part += " in " + render.OneLine(event.Cut(g.channel, 60))
		}
		parts = append(parts, part)
		rest -= g.count
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%d more", rest))
	}
	if messages > 0 {
		parts = append(parts, "and "+counted(messages, "message")+" of Tocsin")
	}
	fate, known := fates[b.first.Cause]
	if !known {
		fate = [2]string{"needs you", "need you"}
	}
	return fmt.Sprintf("%s %s: %s", counted(n, "incident"), fate[min(n, 2)-1], strings.Join(parts, ", "))
}

// fates are the verbs of a bundle's first line for one incident and for several, by cause. Incidents of other causes need the
// recipient.
var fates = map[string][2]string{
	Recovery: {"is over", "are over"},
	Acked:    {"is acknowledged", "are acknowledged"},
	Merged:   {"is part of a merge", "are part of merges"},
}

// counted returns a number with what it counts: 1 incident, 2 incidents.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// incidents returns how many of the items are incidents. They are the first ones.
func (b *bundle) incidents() int {
	if n := slices.IndexFunc(b.items, func(i bundleItem) bool { return i.Severity == "" }); n >= 0 {
		return n
	}
	return len(b.items)
}

// line describes an item on one line.
func (b *bundle) line(i bundleItem) string {
	if i.Severity == "" {
		return strings.TrimSuffix(event.Cut(i.Title+": "+render.OneLine(i.Text), maxMessage), ": ")
	}
	text := i.Severity + " #" + i.Num + ": " + event.Cut(i.Title, 200)
	if i.Channel != "" {
		text += " (" + event.Cut(i.Channel, 60) + ")"
	}
	text += ", since " + time.Unix(i.start, 0).In(b.zone).Format("2006-01-02 15:04 MST")
	if i.why != "" {
		text += ": " + event.Cut(render.OneLine(i.why), 200)
	}
	return text
}

// numbered returns the number of an item's incident with a space behind it; empty: the item is about no incident.
func numbered(i bundleItem) string {
	if i.Num == "" {
		return ""
	}
	return "#" + i.Num + " "
}

// more returns the line about the items that are not listed; empty when all are.
func (b *bundle) more(listed int) string {
	if rest := len(b.items) - listed; rest > 0 {
		return fmt.Sprintf("and %d more", rest)
	}
	return ""
}

// list returns the text of a bundle of at most size bytes: the first line, the link, and a line for each item that fits.
func (b *bundle) list(to *render.Target, link string, size int) render.Markup {
	text := to.Escape(b.head())
	if link != "" { // before the items: a service that cuts the text keeps it
		text += "\n" + to.Link("acknowledge all", link)
	}
	if b.open != "" {
		text += "\n" + to.Link("open", b.open)
	}
	for n, i := range b.items {
		line := to.Escape(b.line(i))
		if n == maxListed || len(text)+len(line)+len(b.more(n)) > size {
			return text + "\n" + to.Escape(b.more(n))
		}
		text += "\n" + line
	}
	return text
}

// short returns the text of a bundle for a text message or a call: the first line, the titles that fit, and the link.
func (b *bundle) short(to *render.Target, link string) render.Markup {
	tail := ""
	if link != "" {
		tail = " ack: " + link
	} else if b.open != "" {
		tail = " open: " + b.open
	}
	text := b.head() + "."
	for n, i := range b.items {
		next := text + " " + numbered(i) + event.Cut(i.Title, 60) + ";"
		more := b.more(n + 1)
		if len([]rune(next))+len(more)+len(tail)+2 > maxShort {
			text += " " + b.more(n) + "."
			break
		}
		text = next
	}
	return to.Escape(strings.TrimSuffix(text, ";") + tail)
}

//go:embed bundle.html
var bundlePages embed.FS

var bundleMail = template.Must(template.ParseFS(bundlePages, "bundle.html"))

// html returns the mail of a bundle.
func (b *bundle) html(link string) (render.Markup, error) {
	n := min(maxListed, len(b.items))
	view := struct {
		Head, More, Link, Open, Colour string
		Lines                          []string
	}{b.head(), b.more(n), link, b.open, "#57606a", nil}
	switch {
	case b.first.Cause == Recovery:
		view.Colour = "#008800"
	case b.items[0].Severity == event.Critical:
		view.Colour = "#c80000"
	case b.items[0].Severity == event.Warning:
		view.Colour = "#fa7d00"
	}
	for _, i := range b.items[:n] {
		view.Lines = append(view.Lines, b.line(i))
	}
	var text strings.Builder
	if err := bundleMail.Execute(&text, view); err != nil {
		return "", fmt.Errorf("the mail of a bundle: %w", err)
	}
	return render.Markup(text.String()), nil
}
