package alert

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/team"
)

// The bounds of trying a filter: how many alerts are read, and the steps of filter.Meter, about a second.
const (
	maxTried      = 20_000
	maxTriedSteps = 10 * filter.RuleSteps
	maxTriedItems = 20
	maxTriedTeams = 50
	fewTried      = 20 // a filter that matches more alerts is broad
)

// TryRequest asks which alerts a filter matches.
type TryRequest struct {
	ChannelIDs []int64       `json:"channel_ids,omitzero" maxItems:"100" doc:"Only alerts of these channels; empty: of all that the caller may read."`
	Filters    filter.Filter `json:"filters" doc:"The filter to try: groups joined by OR, the conditions of a group by AND; empty: all."`
	Days       int64         `json:"days,omitzero" minimum:"0" maximum:"31" doc:"Alerts that began in so many last days; absent: 7."`
	AlertID    string        `json:"alert_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"An alert to explain the filter with."`
	Alert      *Described    `json:"alert,omitzero" doc:"Or the alert to explain it with, described."`
}

// Check returns fault.Invalid for a request that names two alerts.
func (in TryRequest) Check() error {
	if in.AlertID != "" && in.Alert != nil {
		return fault.Invalid("alert", "must not be set beside alert_id")
	}
	return nil
}

// Described is an alert that does not exist, as a filter reads it.
type Described struct {
	Title         string            `json:"title,omitzero" maxLength:"1024" doc:"Its title."`
	TitleRule     string            `json:"title_rule,omitzero" maxLength:"1024" doc:"The template of its title."`
	Description   string            `json:"description,omitzero" maxLength:"6144" doc:"Its description."`
	AlertKey      string            `json:"alert_key,omitzero" maxLength:"1024" doc:"Its key."`
	AlertSeverity string            `json:"alert_severity,omitzero" enum:"Critical,Warning,Info,Ok" doc:"Its severity; absent: Info."`
	AlertStatus   string            `json:"alert_status,omitzero" enum:"Critical,Warning,Info,Ok" doc:"Its status; absent: its severity."`
	IntegrationID int64             `json:"integration_id,omitzero" minimum:"0" doc:"The integration that it came through."`
	Labels        map[string]string `json:"labels,omitzero" maxProperties:"1000" maxLength:"6144" doc:"Its labels."`
}

// Event returns the event that the alert would begin with.
func (d Described) Event() event.Event {
	severity := cmp.Or(d.AlertSeverity, event.Info)
	return event.Event{
		Title: d.Title, TitleRule: d.TitleRule, Description: d.Description, AlertKey: d.AlertKey, Severity: severity,
		Status: cmp.Or(d.AlertStatus, severity), Integration: d.IntegrationID, Labels: d.Labels,
	}
}

// Tried is the reply.
type Tried struct {
	Matched      int64        `json:"matched" doc:"How many of the alerts match."`
	Checked      int64        `json:"checked" doc:"How many alerts were compared, the newest first."`
	Complete     bool         `json:"complete" doc:"Whether these are all alerts of the window; at most 20,000 are compared."`
	MatchesEmpty bool         `json:"matches_empty" doc:"An alert with empty fields and without labels matches, or provably every alert does."`
	Broad        bool         `json:"broad" doc:"More than 20 alerts match, or those of several teams."`
	Teams        []TriedTeam  `json:"teams" doc:"How many match of each team, the most first."`
	Items        []TriedAlert `json:"items" doc:"The newest alerts that match, at most 20."`
	Result       *TriedResult `json:"result" doc:"What became of the alert of the request; null: it names none."`
}

// TriedTeam is how many alerts of a team match.
type TriedTeam struct {
	TeamName string `json:"team_name" doc:"The label team of the alerts; without it, the team that owns their channel; empty: none."`
	Matched  int64  `json:"matched" doc:"How many."`
}

// TriedAlert is an alert that matches.
type TriedAlert struct {
	AlertID       string `json:"alert_id" doc:"The alert."`
	Title         string `json:"title" doc:"Its title."`
	Headline      string `json:"headline" doc:"What people read of it: what is wrong, and in brackets where."`
	AlertSeverity string `json:"alert_severity" doc:"Its severity."`
	StartTime     int64  `json:"start_time" doc:"When it began, Unix seconds."`
	ChannelID     int64  `json:"channel_id" doc:"Its channel."`
	TeamName      string `json:"team_name" doc:"Its team, as in teams."`
}

// TriedResult is why a filter matches an alert or not.
type TriedResult struct {
	Matched bool         `json:"matched" doc:"Whether it matches."`
	Why     string       `json:"why" doc:"Why, in words."`
	Groups  []TriedGroup `json:"groups" doc:"The groups of the filter, in order."`
}

// TriedGroup is one group of a filter.
type TriedGroup struct {
	Matched    bool             `json:"matched" doc:"Whether all of its conditions are met."`
	Conditions []TriedCondition `json:"conditions" doc:"Its conditions, in order."`
}

// TriedCondition is one condition, and what it read.
type TriedCondition struct {
	filter.Condition
	Present bool   `json:"present" doc:"Whether the alert has the field."`
	Value   string `json:"value" doc:"What it holds."`
	Matched bool   `json:"matched" doc:"Whether the condition is met."`
}

// try matches a filter against stored alerts exactly as a rule of a channel would. Nothing is stored.
func try(c *api.Call, in TryRequest) (reply Tried, err error) {
	if err := checkTried(in.Filters); err != nil {
		return reply, err
	}
	matcher, _ := filter.Compile(in.Filters) // checked just now
	reply = Tried{Teams: []TriedTeam{}, Items: []TriedAlert{}}
	reply.MatchesEmpty = lint.Everything(in.Filters, lint.OfAlert) || matcher.Match(&event.Event{}, nil)
	reply.Result, err = in.explain(c, matcher)
	if err != nil {
		return reply, err
	}
	return reply, in.count(c, &reply, matcher)
}

// checkTried returns fault.Invalid for a malformed filter.
func checkTried(f filter.Filter) error {
	if wrong := (*filter.Error)(nil); errors.As(filter.Check(f), &wrong) {
		return fault.Invalid("filters"+wrong.Path, "%s", wrong.Clause())
	}
	return nil
}

// explain matches the filter with the alert that the request names or describes; nil: it has none.
func (in TryRequest) explain(c *api.Call, matcher *filter.Matcher) (*TriedResult, error) {
	var one event.Event
	switch {
	case in.Alert != nil:
		one = in.Alert.Event()
	case in.AlertID != "":
		var err error
		one, err = EventOf(c, in.AlertID)
		if err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	meter := filter.NewMeter(filter.RuleSteps, filter.RuleSteps)
	meter.Begin()
	var trace filter.Trace
	result := &TriedResult{Matched: matcher.Within(meter, &one, &trace), Groups: []TriedGroup{}}
	result.Why = trace.Why().English()
	if meter.Over() {
		result.Why = meter.Why().English()
	}
	for _, g := range trace {
		group := TriedGroup{Matched: g.Matched, Conditions: []TriedCondition{}}
		for _, t := range g.Clauses {
			group.Conditions = append(group.Conditions, TriedCondition{t.Condition, t.Present, event.Cut(t.Value, 300), t.Matched})
		}
		result.Groups = append(result.Groups, group)
	}
	return result, nil
}

// EventOf returns an alert that the caller may read, as filters read it.
func EventOf(c *api.Call, id string) (e event.Event, err error) {
	a, err := info(c, OneRequest{id})
	return event.Event{
		Title: a.Title, TitleRule: a.TitleRule, Description: a.Description, AlertKey: a.AlertKey, Severity: a.AlertSeverity,
		Status: a.AlertStatus, Integration: a.IntegrationID, Labels: a.Labels, GroupKey: a.GroupKey,
	}, err
}

// triedRow is a stored alert as a filter reads it.
type triedRow struct {
	TriedAlert
	event event.Event
}

func scanTried(scan db.Scan) (t triedRow, err error) {
	e, labels := &t.event, ""
	if err := scan(&t.AlertID, &t.StartTime, &t.ChannelID, &e.Integration, &e.Title, &e.TitleRule, &e.Description, &e.AlertKey, &e.Severity,
		&e.Status, &e.GroupKey, &labels); err != nil {
		return t, err
	}
	err = json.Unmarshal([]byte(labels), &e.Labels)
	t.Title, t.Headline = e.Title, render.AlertName(e.Title, e.Labels)
	t.AlertSeverity, t.TeamName = e.Severity, e.Labels["team"]
	return t, fault.Wrap(err, "labels of alert %s", t.AlertID)
}

const tried = `SELECT alert_id, start_time, channel_id, integration_id, title, title_rule, description, alert_key, alert_severity,
	alert_status, group_key, labels FROM alert WHERE account_id = $1 AND start_time >= $2 AND deleted_at = 0
	AND ($3 = '' OR $3 LIKE '%,' || channel_id || ',%') AND NOT ($4 LIKE '%,' || channel_id || ',%')
	ORDER BY start_time DESC, alert_id DESC LIMIT $5`

// count fills in how many stored alerts match.
func (in TryRequest) count(c *api.Call, reply *Tried, matcher *filter.Matcher) error {
	for _, id := range in.ChannelIDs {
		if err := channel.Readable(c.Tx, c.Who, id); err != nil {
			return err
		}
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return err
	}
	meter := filter.NewMeter(filter.RuleSteps, maxTriedSteps)
	var found []TriedAlert
	rows, over := 0, false
	_, err = db.All(c.Tx, func(scan db.Scan) (none struct{}, err error) {
		if rows++; over || rows > maxTried {
			return none, nil
		}
		t, err := scanTried(scan)
		if err != nil {
			return none, err
		}
		reply.Checked++
		meter.Begin()
		if matcher.Within(meter, &t.event, nil) {
			found = append(found, t.TriedAlert)
		}
		over = meter.Used() > maxTriedSteps-filter.RuleSteps
		return none, nil
	}, tried, c.Who.AccountID, c.Unix()-cmp.Or(in.Days, 7)*86400, db.List(in.ChannelIDs), db.List(hidden), maxTried+1)
	if err != nil {
		return err
	}
	reply.Complete, reply.Matched = int64(rows) == reply.Checked, int64(len(found))
	return reply.byTeam(c, found)
}

// byTeam fills in the teams of the alerts that match, and the newest of them.
func (t *Tried) byTeam(c *api.Call, found []TriedAlert) error {
	owners, counts := map[int64]string{}, map[string]int64{}
	for i := range found {
		a := &found[i]
		if a.TeamName == "" {
			name, known := owners[a.ChannelID]
			if !known {
				var err error
				name, err = teamOf(c.Tx, c.Who.AccountID, a.ChannelID)
				if err != nil {
					return err
				}
				owners[a.ChannelID] = name
			}
			a.TeamName = name
		}
		counts[a.TeamName]++
	}
	for name, n := range counts {
		t.Teams = append(t.Teams, TriedTeam{name, n})
	}
	slices.SortFunc(t.Teams, func(a, b TriedTeam) int {
		return cmp.Or(cmp.Compare(b.Matched, a.Matched), strings.Compare(a.TeamName, b.TeamName))
	})
	t.Broad = t.Matched > fewTried || len(t.Teams) > 1
	t.Teams = t.Teams[:min(len(t.Teams), maxTriedTeams)]
	t.Items = append(t.Items, found[:min(len(found), maxTriedItems)]...)
	return nil
}

// teamOf returns the name of the team that owns a channel; empty: none.
func teamOf(tx *db.Tx, account, id int64) (string, error) {
	ch, _, err := channel.Find(tx, account, id)
	if err != nil || ch.TeamID == 0 {
		return "", err
	}
	owner, _, err := team.Find(tx, account, ch.TeamID)
	return owner.TeamName, err
}
