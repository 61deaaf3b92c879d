package notify

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// build builds the message about the notifications that are still needed, and moves the others to those that have ended.
// Notifications of one incident are a plain message.
func (s store) build(ctx context.Context, f *attempt, o *outcome) (m sender.Message, err error) {
	now := s.Clock.Now()
	b := bundle{key: f.key(), first: &f.Notification}
	if len(o.sent) > 1 {
		if err := s.gather(ctx, &b, o, now); err != nil || len(o.sent) == 0 {
			return m, err
		}
	}
	last := o.sent[len(o.sent)-1]
	other := func(n *member) bool { return n.Incident != last.Incident }
	if len(o.sent) > 1 && (last.Incident == "" || slices.ContainsFunc(o.sent, other)) {
		return s.bundled(&b, now)
	}
	n := last.Notification
	n.Key = b.key
	if f.lost {
		o.preset = true
		s.log(f).Warn("the attempt before left no result: the notification is sent with the preset's text")
	}
	m, stale, err := s.message(ctx, &n, f.lost, now)
	if stale != "" {
		for _, n := range o.sent {
			o.end(n, Cancelled, stale)
		}
		o.sent = nil
	}
	return m, err
}

// bundle holds the content of a message that several notifications share.
type bundle struct {
	key   string
	first *Notification // its recipient is that of all
	items []bundleItem  // the most severe first
	zone  *time.Location
	ack   bool   // the recipient may acknowledge one of the incidents
	open  string // link to the list of incidents; empty: it has none, or the server no public URL
}

// bundleItem is an incident, or a message about no incident.
type bundleItem struct {
	Severity, Title, Channel, Text string
	Num                            string // of the incident
	why                            string // no rule notified a person
	start                          int64
	test                           bool
}

// gather reads the content of a bundle. Notifications that are not needed any more are moved to those that have ended,
// and those whose incident cannot be read to those without a message: one corrupt row must not block the others.
func (s store) gather(ctx context.Context, b *bundle, o *outcome, now time.Time) error {
	rows := o.sent
	stale, corrupt := make([]sentence.Value, len(rows)), make([]error, len(rows))
	err := s.DB.Snapshot(ctx, func(tx *db.Tx) error {
		b.items, b.ack = nil, false
		p, found, err := Find(tx, b.first.Account, b.first.Person)
		if err != nil {
			return err
		}
		if b.first.Person != 0 && !found {
			for i := range stale {
				stale[i] = sentence.New("the_person_has_left")
			}
			return nil
		}
		b.zone, err = zoneOf(tx, b.first.Account, p)
		if err != nil {
			return err
		}
		r := bundleReader{store: s, tx: tx, bundle: b, now: now, channels: map[int64]channel.Channel{}, seen: map[string]bool{}}
		for i, n := range rows {
			stale[i], corrupt[i] = r.add(&n.Notification)
		}
		return r.title()
	})
	if err != nil {
		return err
	}
	o.sent = nil
	for i, n := range rows {
		if corrupt[i] != nil {
			o.unmade, o.problem = append(o.unmade, n), corrupt[i]
			continue
		}
		if n.Incident == "" && stale[i] == "" {
			stale[i] = s.Stale(&n.Notification, now)
		}
		if stale[i] != "" {
			o.end(n, Cancelled, stale[i])
			continue
		}
		if n.Incident == "" {
			b.items = append(b.items, bundleItem{Title: n.Detail.Subject, Text: n.Detail.Text})
		}
		o.sent = append(o.sent, n)
	}
	slices.SortStableFunc(b.items, func(a, c bundleItem) int { return event.Rank(c.Severity) - event.Rank(a.Severity) })
	return nil
}

// bundleReader reads the incidents of a bundle. A storm has hundreds, so it asks once for what they share and for the names of
// all: each question is a wait for a database that has much to do then.
type bundleReader struct {
	store
	tx        *db.Tx
	bundle    *bundle
	now       time.Time
	channels  map[int64]channel.Channel
	seen      map[string]bool // incidents
	incidents []incident.Incident
	items     []int  // of the bundle, in the order of incidents
	partial   []bool // likewise
}

// add adds the incident of a notification, once, unless the notification is stale.
func (r *bundleReader) add(n *Notification) (stale sentence.Value, err error) {
	if n.Incident == "" {
		return "", nil
	}
	i, found, err := incident.Find(r.tx, n.Account, n.Incident)
	if err != nil {
		return "", err
	}
	stale = staleReason(n, &i, found, r.now)
	if stale != "" || r.seen[n.Incident] {
		return stale, nil
	}
	r.seen[n.Incident] = true
	ch, known := r.channels[i.ChannelID]
	if !known {
		ch, _, err = channel.Find(r.tx, n.Account, i.ChannelID)
		if err != nil {
			return "", err
		}
		r.channels[i.ChannelID] = ch
	}
	partial, err := r.store.partial(r.tx, &i, r.now)
	if err != nil {
		return "", err
	}
	b := r.bundle
	r.incidents = append(r.incidents, i)
	r.items, r.partial = append(r.items, len(b.items)), append(r.partial, partial)
	b.items = append(b.items, bundleItem{
		Severity: i.Severity,
		Num:      incident.Num(i.IncidentID),
		Channel:  ch.ChannelName,
		why:      because(n),
		start:    i.StartTime,
		test:     i.Test,
	})
	if b.ack || r.Links == nil || i.Progress != incident.Triggered && n.Detail.Question == "" || n.Person == 0 {
		return "", nil
	}
	b.ack, err = permitted(r.tx, n, &i, ch)
	return "", err
}

// title names the incidents.
func (r *bundleReader) title() error {
	if len(r.incidents) == 0 {
		return nil
	}
	leads, err := incident.LeadsOf(r.tx, r.incidents[0].AccountID, r.incidents)
	for n := range r.incidents {
		i := &r.incidents[n]
		r.bundle.items[r.items[n]].Title = problem(i, leads[i.IncidentID], r.partial[n])
	}
	return err
}

// problem returns the problem of an incident and its place, from the labels of the alert that it is named after. partial:
// more alerts exist than are counted.
func problem(i *incident.Incident, first *alert.Lead, partial bool) string {
	headline, _ := i.Headline(first)
	labels := i.Labels
	if first != nil && first.Labels != nil {
		labels = first.Labels
	}
	return render.Incident{Headline: headline, Where: render.Where(headline, i.AlertCnt, partial, labels, nil)}.Problem()
}

// because returns why the fallback is notified, or the question to the person; empty for any other notification.
func because(n *Notification) string {
	parts := sentence.Split(n.Reason)
	switch {
	case n.Detail.Question != "":
		return question(n)
	case n.Cause == Fallback && len(parts) > 0 && parts[0].Is("because"):
		parts[0] = parts[0].Arg(1)
		return sentence.Join(parts...).English()
	}
	return ""
}

// question returns the question to the person of a notification, without what delayed it.
func question(n *Notification) string {
	parts := sentence.Split(n.Reason)
	if len(parts) == 0 {
		return ""
	}
	return parts[0].English()
}

// permitted reports whether the person of a notification may read the incident that it is about.
func permitted(tx *db.Tx, n *Notification, i *incident.Incident, ch channel.Channel) (bool, error) {
	who, err := Reader(tx, n.Account, n.Person)
	if err != nil {
		return false, err
	}
	err = unlessResponsible(channel.Permit(tx, who, ch), i, n.Person)
	if err != nil && fault.KindOf(err) == fault.AccessDenied {
		return false, nil
	}
	return err == nil, err
}

// zoneOf returns the time zone of a person, or the account's if unset.
func zoneOf(tx *db.Tx, id int64, p Person) (*time.Location, error) {
	name := p.TimeZone
	if name == "" {
		var err error
		_, name, err = account(tx, id)
		if err != nil {
			return nil, err
		}
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		zone = time.UTC
	}
	return zone, nil
}

// bundled builds the message of a bundle.
func (s store) bundled(b *bundle, now time.Time) (m sender.Message, err error) {
	head := b.head()
	state := b.items[0].Severity
	test := !slices.ContainsFunc(b.items, func(i bundleItem) bool { return !i.test })
	m = sender.Message{Key: b.key, Thread: b.key, Event: b.first.Event, Title: head, Severity: state, Test: test}
	switch {
	case b.incidents() == 0:
		m.Severity, m.Subject = "Info", head
	case b.first.Cause == Recovery:
		m.Subject, m.Severity = "[Resolved] "+head, event.Ok
	case b.first.Cause == Acked:
		m.Subject = "[Acknowledged] " + head
	case b.first.Cause == Merged:
		m.Subject = "[Merged] " + head
	default:
		m.Subject = "[" + state + "] " + head
	}
	if test {
		m.Subject = "[Drill] " + m.Subject
	}
	if _, id, _ := strings.Cut(strings.TrimPrefix(b.key, "bundle/"), "/"); b.ack {
		m.AckLink = s.Links.AckBundle(b.first.Account, id, b.first.Person, now)
	}
	if b.incidents() > 0 {
		b.open = s.Links.Open("")
		m.Link = b.open
	}
	to, _ := render.For(kindOf(b.first.Method))
	switch {
	case kindOf(b.first.Method) == methodPush: // its link is not in its text
		b.open = ""
		m.Text = b.list(to, "", maxChat)
	case to == render.HTML:
		m.Text = b.list(render.Plain, m.AckLink, maxMail)
		m.HTML, err = b.html(m.AckLink)
	case to == render.Short:
		link := m.AckLink
		if b.first.Method == "voice" {
			link, b.open = "", ""
			for n := range b.items {
				b.items[n].Num = "" // a call that reads out many numbers hides the titles
			}
		}
		m.Text = b.short(to, link)
	default:
		m.Text = b.list(to, m.AckLink, maxChat)
	}
	if err != nil {
		return m, err
	}
	fields := data{Key: b.key, Event: b.first.Event, Reason: b.first.Reason.English(), Subject: m.Subject, Text: head}
	m.Data, err = json.Marshal(fields, json.Deterministic(true))
	return m, err
}
