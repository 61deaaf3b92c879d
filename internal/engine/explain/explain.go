// Package explain answers "why": the verdicts on an event or an alert, step by step with every reason, the history of
// its incident, and which persons were notified or not, and why. It reads what the other packages stored at that time.
//
// It must never evaluate a rule again: it reports the decision as it was made.
package explain

import (
	"embed"
	"fmt"
	"slices"
	"strings"

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

// Ops returns the operations of the package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path: "/alert/explain", Allow: []auth.Permission{auth.ChannelsRead}, Effect: api.Snapshot,
		Doc:     "Explains an alert or an event: its verdicts, the rules that were tried, who was notified and who was not.",
		Notes:   "In words and in data. For an alert the last 50 verdicts are listed.",
		Example: `{"alert_id": "663a1b2c3d4e5f6789abcdef"}`, Do: api.Do(r.explain),
	}})
}

type request struct {
	AlertID string `json:"alert_id,omitzero" pattern:"^([0-9a-fA-F]{24})?$" patternDescription:"24 hexadecimal digits" doc:"The alert; or event_id."`
	EventID string `json:"event_id,omitzero" pattern:"^([0-9a-fA-F]{24})?$" patternDescription:"24 hexadecimal digits" doc:"An event, by the id in the reply to its push."`
}

func (in request) Check() error {
	if (in.AlertID == "") == (in.EventID == "") {
		return fault.Invalid("alert_id", "or event_id is required, one of the two")
	}
	return nil
}

// Explanation is the reply.
type Explanation struct {
	Words     []string  `json:"words" doc:"The explanation in sentences, in the order in which things happened."`
	Waiting   bool      `json:"waiting" doc:"The event was accepted and has no verdict yet."`
	Verdicts  []Outcome `json:"verdicts" doc:"The verdict on the event in each channel, or on the alert's events one after the other."`
	Incidents []Story   `json:"incidents" doc:"The incidents of these verdicts."`
	now       []string  // sentences about the present state; they come last
}

// Outcome is the verdict on an event in a channel.
type Outcome struct {
	EventID    string        `json:"event_id" doc:"The event; empty: its alert was decided again, because what muted it ended."`
	DecidedAt  int64         `json:"decided_at" doc:"When, Unix milliseconds."`
	ChannelID  int64         `json:"channel_id" doc:"The channel; 0: no channel accepts it."`
	Outcome    string        `json:"outcome" doc:"discarded, unrouted, dropped, repeated, silenced, inhibited, flapping, opened, grouped, recovered, unmatched or failed."`
	AlertID    string        `json:"alert_id" doc:"Its alert; empty: none."`
	IncidentID string        `json:"incident_id" doc:"Its incident; empty: none."`
	Title      string        `json:"title" doc:"Title of the event at that time."`
	AlertKey   string        `json:"alert_key" doc:"The key by which it is merged into its alert."`
	Trace      []decide.Step `json:"trace" doc:"Every rule that was tried, in order."`
	source     int64         // the integration that the event came from
}

// Story is the history of an incident.
type Story struct {
	IncidentID string   `json:"incident_id" doc:"The incident."`
	Title      string   `json:"title" doc:"Its present title."`
	Progress   string   `json:"progress" doc:"Its present progress; empty: it was removed."`
	Notices    []Notice `json:"notices" doc:"Its notifications, sent or not."`
}

// Notice is a notification of the incident, sent or not.
type Notice struct {
	NoticeID   string `json:"notice_id" doc:"The notification."`
	PersonID   int64  `json:"person_id" doc:"The person; 0: a chat or an address."`
	PersonName string `json:"person_name,omitzero" doc:"The person's name."`
	Method     string `json:"way" doc:"The method, such as email."`
	Cause      string `json:"cause" doc:"page, assign, recovery, owner or storm."`
	Reason     string `json:"reason" doc:"Why this target was chosen, in words."`
	Status     string `json:"status" doc:"waiting, sending, sent, failed or cancelled."`
	Attempts   int64  `json:"attempts" doc:"How often it was tried."`
	CreatedAt  int64  `json:"created_at" doc:"When it was stored, Unix milliseconds."`
	DueAt      int64  `json:"due_at" doc:"When it is or was to be sent, Unix milliseconds."`
	SettledAt  int64  `json:"settled_at" doc:"When it was sent, failed or was cancelled; 0: not yet."`
	Outcome    string `json:"outcome" doc:"The answer of the service, why it failed, or why it was cancelled."`
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
	if err := x.describeVerdicts(c); err != nil {
		return x, err
	}
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

const verdicts = `SELECT event_id, decided_at, channel_id, integration_id, outcome, alert_id, incident_id, body, trace
	FROM verdict WHERE account_id = $1`

// scanVerdict reads a row and decodes its event and trace.
func scanVerdict(scan db.Scan) (v Outcome, err error) {
	var body, trace string
	if err = scan(&v.EventID, &v.DecidedAt, &v.ChannelID, &v.source, &v.Outcome, &v.AlertID, &v.IncidentID, &body, &trace); err != nil {
		return v, err
	}
	var e event.Event
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return v, err
	}
	v.Title, v.AlertKey, v.Trace = e.Title, e.AlertKey, []decide.Step{}
	return v, json.Unmarshal([]byte(trace), &v.Trace)
}

// ofEvent reads the verdicts on an event that the caller may read.
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
		x.Words = append(x.Words, "The event was accepted and waits for its verdict.")
	}
	var denied error
	for _, v := range all {
		switch err := readable(c, v.ChannelID, v.source); {
		case fault.KindOf(err) == fault.AccessDenied: // the caller sees only verdicts in channels that they may read
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

// ofAlert reads the verdicts on an alert.
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
		x.Words = append(x.Words, "There is no record of how this alert began: it was imported, or its record was deleted with age.")
		if a.Incident != "" {
			return x.story(c, a.Incident)
		}
	}
	if a.Muted != "" && a.Active() {
		x.now = append(x.now, fmt.Sprintf("It is %s now, until %s or until the rules change.", a.Muted, when(a.MutedUntil)))
	}
	return nil
}

// withoutPrivateRoutes hides the results of route cases that the caller may not read.
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

// readable returns an error for a caller who may not read a private channel, or, for an event that reached no channel, the
// private channel of its integration. A channel or integration that was deleted hides nothing.
func readable(c *api.Call, ch, source int64) error {
	if ch != 0 || source == 0 {
		return channel.PermitAll(c.Tx, c.Who, ch)
	}
	if err := integration.Permit(c, source); fault.KindOf(err) != fault.NotFound {
		return err
	}
	return nil
}

// story adds the feed and the notifications of an incident, if the caller may read it.
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
		text, err := sentence(c, e)
		if err != nil {
			return err
		}
		if text != "" {
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
