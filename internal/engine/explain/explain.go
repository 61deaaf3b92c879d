// Package explain answers "why": what became of an event or an alert, step by step with every reason, what was
// done about its incident, who was told, who was not and why. It reads what the rooms wrote down when it
// happened.
//
// It must never decide anything anew: what it tells is what was decided then.
package explain

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/route"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service explains.
type Service struct{}

// Ops is the room's table of contents.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path: "/alert/explain", Allow: []auth.Permission{auth.ChannelsRead}, Effect: api.Snapshot,
		Doc:     "Tells why: what became of an alert or an event, which rules were looked at, who was told and who was not.",
		Notes:   "In words and in data. Of an alert the last 50 verdicts are told.",
		Example: `{"alert_id": "663a1b2c3d4e5f6789abcdef"}`, Do: api.Do(r.explain),
	}})
}

type request struct {
	AlertID string `json:"alert_id,omitzero" pattern:"^([0-9a-fA-F]{24})?$" patternDescription:"24 hexadecimal digits" doc:"The alert; or event_id."`
	EventID string `json:"event_id,omitzero" pattern:"^([0-9a-fA-F]{24})?$" patternDescription:"24 hexadecimal digits" doc:"An event, as the push was answered with."`
}

func (in request) Check() error {
	if (in.AlertID == "") == (in.EventID == "") {
		return fault.Invalid("alert_id", "or event_id is required, one of the two")
	}
	return nil
}

// Explanation is the reply.
type Explanation struct {
	Words     []string  `json:"words" doc:"All of it in sentences, in the order in which it happened."`
	Waiting   bool      `json:"waiting" doc:"The event was taken and has no verdict yet."`
	Verdicts  []Outcome `json:"verdicts" doc:"What became of the event in each channel, or of the alert's events one after the other."`
	Incidents []Story   `json:"incidents" doc:"The incidents it was about."`
	now       []string  // what is so at present, to be told last
}

// Outcome is what became of an event in a channel.
type Outcome struct {
	EventID    string        `json:"event_id" doc:"The event; empty: its alert was decided again, because what muted it ended."`
	DecidedAt  int64         `json:"decided_at" doc:"When, Unix milliseconds."`
	ChannelID  int64         `json:"channel_id" doc:"The channel; 0: it came to none."`
	Outcome    string        `json:"outcome" doc:"discarded, unrouted, dropped, repeated, silenced, inhibited, flapping, opened, grouped, recovered, unmatched or failed."`
	AlertID    string        `json:"alert_id" doc:"Its alert; empty: none."`
	IncidentID string        `json:"incident_id" doc:"Its incident; empty: none."`
	Title      string        `json:"title" doc:"What the event was called then."`
	AlertKey   string        `json:"alert_key" doc:"By which it is merged into its alert."`
	Trace      []decide.Step `json:"trace" doc:"Every look at every rule, in order."`
	source     int64         // the integration that the event came from
}

// Story is what was done about an incident.
type Story struct {
	IncidentID string   `json:"incident_id" doc:"The incident."`
	Title      string   `json:"title" doc:"Its title now."`
	Progress   string   `json:"progress" doc:"Where it stands now; empty: it was removed."`
	Notices    []Notice `json:"notices" doc:"Who was told, is to be told, or could not be."`
}

// Notice is what somebody was told, or not.
type Notice struct {
	NoticeID   string `json:"notice_id" doc:"The notice."`
	PersonID   int64  `json:"person_id" doc:"Who; 0: a chat or an address."`
	PersonName string `json:"person_name,omitzero" doc:"Their name."`
	Method     string `json:"way" doc:"How, such as email."`
	Cause      string `json:"cause" doc:"page, assign, recovery, owner or storm."`
	Reason     string `json:"reason" doc:"Why this one, in words."`
	Status     string `json:"status" doc:"waiting, sending, sent, failed or cancelled."`
	Attempts   int64  `json:"attempts" doc:"How often it was tried."`
	CreatedAt  int64  `json:"created_at" doc:"When it was made, Unix milliseconds."`
	DueAt      int64  `json:"due_at" doc:"When it is or was to be sent, Unix milliseconds."`
	SettledAt  int64  `json:"settled_at" doc:"When it was sent, failed or was cancelled; 0: not yet."`
	Outcome    string `json:"outcome" doc:"What the service said, why it failed, or why it was cancelled."`
}

func (r *Service) explain(c *api.Call, in request) (x Explanation, err error) {
	x = Explanation{Words: []string{}, Verdicts: []Outcome{}, Incidents: []Story{}}
	if in.EventID != "" {
		err = x.ofEvent(c, strings.ToLower(in.EventID))
	} else {
		err = x.ofAlert(c, strings.ToLower(in.AlertID))
	}
	if err != nil {
		return x, err
	}
	if err := x.withoutPrivateRoutes(c); err != nil {
		return x, err
	}
	x.tellVerdicts()
	seen := map[string]bool{"": true}
	for _, v := range x.Verdicts {
		if !seen[v.IncidentID] {
			seen[v.IncidentID] = true
			if err := x.story(c, v.IncidentID); err != nil {
				return x, err
			}
		}
	}
	x.Words = append(x.Words, x.now...)
	return x, nil
}

const verdicts = `SELECT event_id, decided_at, channel_id, integration_id, outcome, alert_id, incident_id, body, trace FROM verdict WHERE account_id = $1`

func scanVerdict(scan db.Scan) (v Outcome, err error) {
	var body, trace string
	if err = scan(&v.EventID, &v.DecidedAt, &v.ChannelID, &v.source, &v.Outcome, &v.AlertID, &v.IncidentID, &body, &trace); err != nil {
		return v, err
	}
	var said event.Event
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		return v, err
	}
	v.Title, v.AlertKey, v.Trace = said.Title, said.AlertKey, []decide.Step{}
	return v, json.Unmarshal([]byte(trace), &v.Trace)
}

func (x *Explanation) ofEvent(c *api.Call, id string) (err error) {
	var source int64
	decided, found, err := db.One(c.Tx, func(scan db.Scan) (decided int64, err error) { return decided, scan(&decided, &source) },
		`SELECT decided_at, integration_id FROM event WHERE account_id = $1 AND event_id = $2`, c.Who.AccountID, id)
	if err != nil {
		return err
	}
	all, err := db.All(c.Tx, scanVerdict, verdicts+` AND event_id = $2 ORDER BY verdict_id`, c.Who.AccountID, id)
	if err != nil {
		return err
	}
	if !found && len(all) == 0 {
		return fault.Missing("event", id)
	}
	x.Waiting = found && decided == 0
	if x.Waiting {
		if err := readable(c, 0, source); err != nil {
			return err
		}
		x.Words = append(x.Words, "The event was taken and waits for its verdict.")
	}
	var denied error
	for _, v := range all {
		switch err := readable(c, v.ChannelID, v.source); {
		case fault.KindOf(err) == fault.AccessDenied: // of the channels that it went to the caller sees those that are theirs
			denied = err
		case err != nil:
			return err
		default:
			x.Verdicts = append(x.Verdicts, v)
		}
	}
	if len(x.Verdicts) == 0 {
		return denied
	}
	return nil
}

func (x *Explanation) ofAlert(c *api.Call, id string) error {
	a, found, err := alert.Find(c.Tx, c.Who.AccountID, id)
	if err != nil {
		return err
	}
	if !found {
		return fault.Missing("alert", id)
	}
	if err := readable(c, a.Channel, 0); err != nil {
		return err
	}
	x.Verdicts, err = db.All(c.Tx, scanVerdict, verdicts+` AND alert_id = $2 ORDER BY verdict_id DESC LIMIT 50`, c.Who.AccountID, id)
	if err != nil {
		return err
	}
	slices.Reverse(x.Verdicts)
	if len(x.Verdicts) == 0 {
		x.Words = append(x.Words, "Nothing was written down about how this alert came about: it was imported, or that was too long ago.")
		if a.Incident != "" {
			return x.story(c, a.Incident)
		}
	}
	if a.Muted != "" && a.Active() {
		x.now = append(x.now, fmt.Sprintf("It is %s now, until %s or until the rules change.", a.Muted, when(a.MutedUntil)))
	}
	return nil
}

// withoutPrivateRoutes takes out how events fared with the cases of routes that the caller may not read.
func (x *Explanation) withoutPrivateRoutes(c *api.Call) error {
	for _, v := range x.Verdicts {
		err := route.Permit(c, v.source)
		if err != nil && fault.KindOf(err) != fault.AccessDenied {
			return err
		}
		for i := range v.Trace {
			if err != nil && v.Trace[i].Stage == "route" {
				v.Trace[i].Why = "its route names a private channel"
			}
		}
	}
	return nil
}

// readable refuses what belongs to a private channel, or came from an integration of one and reached no channel. What
// is gone hides nothing.
func readable(c *api.Call, ch, source int64) error {
	if ch != 0 || source == 0 {
		return channel.PermitAll(c.Tx, c.Who, ch)
	}
	if err := integration.Permit(c, source); fault.KindOf(err) != fault.NotFound {
		return err
	}
	return nil
}

// sentences say what an outcome means.
var sentences = map[decide.Outcome]string{
	decide.Discarded: "its integration's pipeline dropped it",
	decide.Unrouted:  "no channel takes it",
	decide.Dropped:   "it was dropped in channel %d",
	decide.Repeated:  "it said nothing new and refreshed its alert in channel %d",
	decide.Silenced:  "it was silenced in channel %d: its alert is kept and nobody is told",
	decide.Inhibited: "another alert inhibits it in channel %d: its alert is kept and nobody is told",
	decide.Flapping:  "its alert in channel %d changes too often and is kept silent",
	decide.Opened:    "it opened an incident in channel %d",
	decide.Grouped:   "it became part of an incident in channel %d",
	decide.Recovered: "it ended its alert in channel %d",
	decide.Unmatched: "there was no open alert for it to end in channel %d",
	decide.Failed:    "it could not be decided",
}

func (x *Explanation) tellVerdicts() {
	for _, v := range x.Verdicts {
		what := sentences[decide.Outcome(v.Outcome)]
		if strings.Contains(what, "%d") {
			what = fmt.Sprintf(what, v.ChannelID)
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
}

func when(seconds int64) string { return time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04:05 UTC") }

// story tells what was done about an incident.
func (x *Explanation) story(c *api.Call, id string) error {
	i, found, err := incident.Find(c.Tx, c.Who.AccountID, id)
	if err != nil {
		return err
	}
	s := Story{IncidentID: id, Notices: []Notice{}}
	if found {
		switch err := readable(c, i.ChannelID, 0); {
		case fault.KindOf(err) == fault.AccessDenied: // its alert was merged into one of a private channel
			return nil
		case err != nil:
			return err
		}
		s.Title, s.Progress = i.Title, i.Progress
	}
	feed, _, err := activity.Feed(c.Tx, activity.Query{Account: c.Who.AccountID, Ref: id, OldestFirst: true, Limit: 500})
	if err != nil {
		return err
	}
	for _, e := range feed {
		if text := said(e); text != "" {
			x.Words = append(x.Words, fmt.Sprintf("%s, incident %s: %s.", when(e.CreatedAt/1000), incident.Num(id), text))
		}
	}
	notices, err := notify.OfIncident(c.Tx, c.Who.AccountID, id)
	if err != nil {
		return err
	}
	for _, n := range notices {
		shown := Notice{n.ID, n.Person, "", n.Method, n.Cause, n.Reason, n.Status, n.Attempts, n.Created, n.Due, n.Settled, n.Outcome}
		if n.Person != 0 {
			p, _, err := notify.Find(c.Tx, c.Who.AccountID, n.Person)
			if err != nil {
				return err
			}
			shown.PersonName = p.Name
		}
		s.Notices = append(s.Notices, shown)
		x.Words = append(x.Words, fmt.Sprintf("%s, incident %s: %s.", when(n.Created/1000), incident.Num(id), shown.words()))
	}
	x.Incidents = append(x.Incidents, s)
	return nil
}

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

// said puts an entry of a feed in words; empty: it is told otherwise.
func said(e activity.Entry) string {
	by := ""
	if e.Person != 0 {
		by = fmt.Sprintf(" by person %d", e.Person)
	}
	switch e := e.Event.(type) {
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
	case activity.Notified:
		if e.By == "nobody" {
			return fmt.Sprintf("layer %d of %s had nobody to tell (%s) and did: %s", e.LayerIdx, e.EscalateRuleName, e.Reason, e.Then)
		}
	case activity.Assigned:
		return fmt.Sprintf("it was assigned (%s) to %s", e.How, persons(e.To))
	}
	return ""
}

// persons lists persons by number.
func persons(ids []int64) string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, fmt.Sprintf("person %d", id))
	}
	if len(texts) == 0 {
		return "others"
	}
	return strings.Join(texts, ", ")
}
