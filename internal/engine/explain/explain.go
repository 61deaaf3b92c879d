package explain

import (
	"embed"
	"strings"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service explains.
type Service struct {
	Held func() string // why nothing is sent; empty: notifications are sent. nil: they are
	// Rule returns the sentences about what an alert rule found before an event about the alert of a key was decided, and the
	// moment, Unix milliseconds; none: no rule did. nil: there are no rules.
	Rule func(tx *db.Tx, account int64, key string, before time.Time, clock person.Clock) (at int64, sentences []sentence.Value, err error)
}

// Ops returns the operations of the package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path: "/alert/explain", Allow: []auth.Permission{auth.ChannelsRead}, Effect: api.Snapshot,
		Errors: api.Missing("alert"),
		Doc:    "Explains an alert or an event: its verdicts, the rules that were tried, who was notified and who was not.",
		Notes: "In words and in data. The words are in the order in which things happened, with times in the caller's time zone. " +
			"For an alert the last 50 verdicts are listed.",
		Example: `{"alert_id": "67a1c0de0000000a00000004"}`, Do: api.Do(r.ofAlertOrEvent),
	}, {
		Path: "/incident/explain", Allow: []auth.Permission{auth.IncidentsRead}, Effect: api.Snapshot,
		Doc: "Explains an incident: how it began, who was notified and who was not, why, and who is next.",
		Notes: "In words and in data, as /alert/explain does. The verdicts are those on the first 10 alerts of the incident " +
			"in channels that the caller may read.",
		Example: `{"incident_id": "67a1c0de0000000100000002"}`, Do: api.Do(r.ofIncident),
	}})
}

// AlertRequest names an alert, an event or an issue of a web page.
type AlertRequest struct {
	AlertID string `json:"alert_id,omitzero" pattern:"^([0-9a-fA-F]{24})?$" patternDescription:"24 hexadecimal digits" doc:"The alert; or event_id or issue_id."`
	EventID string `json:"event_id,omitzero" pattern:"^([0-9a-fA-F]{24})?$" patternDescription:"24 hexadecimal digits" doc:"An event, by the id in the reply to its push."`
	IssueID string `json:"issue_id,omitzero" maxLength:"255" doc:"An issue of a web page: what became of its alerts, or why it opens none."`
}

// Check returns fault.Invalid for a request that does not name exactly one object.
func (in AlertRequest) Check() error {
	given := 0
	for _, id := range []string{in.AlertID, in.EventID, in.IssueID} {
		if id != "" {
			given++
		}
	}
	if given != 1 {
		return fault.Invalid("alert_id", "or event_id or issue_id is required, one of the three")
	}
	return nil
}

// Explanation is the reply.
type Explanation struct {
	Summary     sentence.Words   `json:"summary" doc:"Who was notified, or why nobody was, in one or two sentences."`
	SummaryData sentence.Data    `json:"summary_data,omitzero" doc:"The summary as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Words       []sentence.Words `json:"words" doc:"The explanation in sentences, in the order in which things happened; what is so now and what comes next is at the end. Times are in the caller's time zone."`
	WordsData   []sentence.Data  `json:"words_data" doc:"The words as data, in the same order, see docs/sentences.md; one with an empty code is no sentence of the table."`
	Waiting     bool             `json:"waiting" doc:"The event was accepted and has no verdict yet."`
	Verdicts    []Outcome        `json:"verdicts" doc:"The verdict on the event in each channel, or on the alert's events one after the other."`
	Later       []Outcome        `json:"later,omitempty" doc:"For an event: what was decided about its alerts after it, at most 50 for each alert; absent: nothing."`
	Incidents   []Story          `json:"incidents" doc:"The incidents of these verdicts."`
	Fallback    []Notice         `json:"fallback,omitempty" doc:"For an event that no channel accepts: the notifications to the account's fallback about events of its alert key, those of the last message; absent: none."`

	c     *api.Call
	clock person.Clock
	lines []line
	now   []sentence.Value // about the present state; they come last
	held  bool             // the server sends nothing
	mute  sentence.Value   // why no notification is sent now, of an alert that is muted
	// rule explains an alert of an alert rule; see Service.
	rule func(*db.Tx, int64, string, time.Time, person.Clock) (int64, []sentence.Value, error)
	// silent is why an issue has no alert.
	silent sentence.Value
}

// begin returns an empty explanation for a caller.
func (r *Service) begin(c *api.Call) (x Explanation, err error) {
	x = Explanation{Verdicts: []Outcome{}, Incidents: []Story{}, c: c, rule: r.Rule, held: r.Held != nil && r.Held() != ""}
	x.clock, err = person.ClockOf(c.Tx, c.Who, c.Now)
	return x, err
}

func (r *Service) ofAlertOrEvent(c *api.Call, in AlertRequest) (Explanation, error) {
	x, err := r.begin(c)
	if err != nil {
		return x, err
	}
	switch {
	case in.EventID != "":
		err = x.ofEvent(strings.ToLower(in.EventID))
	case in.IssueID != "":
		err = x.ofIssue(in.IssueID)
	default:
		err = x.ofAlert(strings.ToLower(in.AlertID))
	}
	if err != nil {
		return x, err
	}
	return x, x.finish()
}

// ofEvent reads the verdicts on an event that the caller may read, and the later ones on its alerts.
func (x *Explanation) ofEvent(id string) error {
	source, decided, found, err := eventOf(x.c, id)
	if err != nil {
		return err
	}
	all, err := verdictsOf(x.c, ` AND event_id = $2 ORDER BY verdict_id`, id)
	if err != nil {
		return err
	}
	if !found && len(all) == 0 {
		return fault.Missing("event", id)
	}
	x.Waiting = found && !decided
	if x.Waiting {
		if err := readable(x.c, 0, source); err != nil {
			return err
		}
		x.addNow(sentence.New("event_waits"))
	}
	x.Verdicts, err = visible(x.c, all)
	if err != nil {
		return err
	}
	for _, v := range x.Verdicts {
		if v.AlertID == "" {
			continue
		}
		later, err := verdictsOf(x.c, ` AND alert_id = $2 AND verdict_id > $3 ORDER BY verdict_id LIMIT 50`, v.AlertID, v.number)
		if err != nil {
			return err
		}
		x.Later = append(x.Later, later...)
		if err := x.present(v.AlertID); err != nil {
			return err
		}
	}
	return nil
}

// ofAlert reads the verdicts on an alert.
func (x *Explanation) ofAlert(id string) error {
	a, found, err := alert.Find(x.c.Tx, x.c.Who.AccountID, id)
	if err != nil {
		return err
	}
	if !found {
		return fault.Missing("alert", id)
	}
	if err := readable(x.c, a.Channel, 0); err != nil {
		return err
	}
	x.Verdicts, err = lastOfAlert(x.c, id)
	if err != nil {
		return err
	}
	if len(x.Verdicts) == 0 {
		x.addNow(sentence.New("no_record"))
	}
	return x.present(id)
}

// maxAlerts is how many alerts of an incident are explained.
const maxAlerts = 10

func (r *Service) ofIncident(c *api.Call, in incident.OneRequest) (Explanation, error) {
	x, err := r.begin(c)
	if err != nil {
		return x, err
	}
	id := strings.ToLower(in.IncidentID)
	if _, err := incident.Permit(c.Tx, c.Who, id); err != nil {
		return x, err
	}
	count, err := alert.CountOf(c.Tx, c.Who.AccountID, id)
	if err != nil {
		return x, err
	}
	if count.Alerts > maxAlerts {
		x.addNow(sentence.New("has_alerts", count.Alerts), sentence.New("first_explained", maxAlerts))
	}
	alerts, err := alert.OfIncident(c.Tx, c.Who.AccountID, id, maxAlerts, 0)
	if err != nil {
		return x, err
	}
	for _, a := range alerts {
		all, err := lastOfAlert(c, a.ID)
		if err != nil {
			return x, err
		}
		seen, err := visible(c, all)
		if fault.KindOf(err) == fault.AccessDenied { // an alert of a private channel in an incident of a public one
			continue
		}
		if err != nil {
			return x, err
		}
		x.Verdicts = append(x.Verdicts, seen...)
	}
	if err := x.story(id); err != nil {
		return x, err
	}
	return x, x.finish()
}

// present adds the present state of an alert: its incident, and whether it is muted.
func (x *Explanation) present(id string) error {
	a, found, err := alert.Find(x.c.Tx, x.c.Who.AccountID, id)
	if err != nil || !found {
		return err
	}
	switch {
	case !a.Active():
	case a.AwaitsQuiet():
		x.addNow(sentence.New("now_awaits_quiet", x.clock.Minute(a.FlapsUntil)))
	case a.FlapsUntil > 0:
		x.addNow(sentence.New("now_flapping", x.clock.Minute(a.FlapsUntil)))
	}
	switch {
	case !a.Active() || a.Muted == "":
	case a.Muted == decide.Disabled:
		x.mute = sentence.New("its_channel_disabled")
		x.addNow(sentence.New("now_disabled"))
	case a.Muted == decide.Inhibited:
		by, _, err := alert.Find(x.c.Tx, x.c.Who.AccountID, a.MutedBy)
		if err != nil {
			return err
		}
		x.mute = sentence.New("inhibited_while", ruleNamed(by.Title, a.MutedBy))
		x.addNow(sentence.New("now_inhibited", ruleNamed(by.Title, a.MutedBy)))
	default:
		x.mute = sentence.New("muted_until", a.Muted.Words(), x.clock.Minute(a.MutedUntil))
		x.addNow(sentence.New("now_muted", a.Muted.Words(), x.clock.Minute(a.MutedUntil)))
	}
	return x.story(a.Incident)
}

// finish adds the incidents of the verdicts, and writes the sentences.
func (x *Explanation) finish() error {
	if err := x.withoutPrivateRoutes(); err != nil {
		return err
	}
	for _, v := range append(x.Verdicts[:len(x.Verdicts):len(x.Verdicts)], x.Later...) {
		if err := x.story(v.IncidentID); err != nil {
			return err
		}
	}
	if err := x.describeRules(); err != nil {
		return err
	}
	if err := x.describeVerdicts(); err != nil {
		return err
	}
	if err := x.fallback(); err != nil {
		return err
	}
	for i := range x.Incidents {
		if err := x.describeStory(&x.Incidents[i]); err != nil {
			return err
		}
	}
	if x.held {
		x.addNow(sentence.New("now_held"), sentence.New("until_release"))
	}
	x.write()
	summary := x.summarise()
	x.Summary, x.SummaryData = sentence.Words(summary), summary.Data()
	for _, list := range [][]Outcome{x.Verdicts, x.Later} {
		for i := range list {
			list[i].show()
		}
	}
	return nil
}
