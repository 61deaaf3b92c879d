package untold

import (
	"cmp"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// Item is an incident, alert or alert key about which no rule notified a person.
type Item struct {
	Kind          string         `json:"kind" enum:"incident,alert,event" doc:"What it is; event: all events of one alert key that no channel takes."`
	IncidentID    string         `json:"incident_id,omitzero" doc:"The incident."`
	AlertID       string         `json:"alert_id,omitzero" doc:"The alert, which is in no incident."`
	EventID       string         `json:"event_id,omitzero" doc:"The last event."`
	ChannelID     int64          `json:"channel_id,omitzero" doc:"The channel; absent: none."`
	IntegrationID int64          `json:"integration_id,omitzero" doc:"What sent the events."`
	Title         string         `json:"title" doc:"Its title."`
	Severity      string         `json:"severity" enum:"Critical,Warning,Info" doc:"Its severity; of events the highest."`
	State         string         `json:"state" enum:"waiting,fallback,unreached,by_choice" doc:"waiting: the fallback is notified with the next message, or the result is not known yet; fallback: only the fallback was notified; unreached: neither the fallback nor the owner could be reached; by_choice: no person is to be notified now."`
	Why           sentence.Words `json:"why" doc:"Why no rule notified a person."`
	WhyData       sentence.Data  `json:"why_data,omitzero" doc:"Why as data, see docs/sentences.md; absent: it is no sentence of the table."`
	ByChoice      sentence.Words `json:"by_choice,omitzero" doc:"Why no person is to be notified: a silence, a snooze, a disabled channel; absent: a person is."`
	ByChoiceData  sentence.Data  `json:"by_choice_data,omitzero" doc:"By whose choice as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Since         int64          `json:"since" doc:"Since when, Unix seconds."`
	LastAt        int64          `json:"last_at,omitzero" doc:"When the last event came, Unix seconds."`
	Events        int64          `json:"events,omitzero" doc:"How many events there were."`
	NotifiedAt    int64          `json:"notified_at,omitzero" doc:"When the last message to the fallback was made, Unix seconds."`
}

// ListRequest asks for a page of what reached no person.
type ListRequest struct {
	State string `json:"state,omitzero" enum:"waiting,fallback,unreached,by_choice" doc:"Only those in this state; absent: all."`
	ToAct bool   `json:"without_by_choice,omitzero" doc:"Without what no person is to be notified of now."`
	api.Page
}

// listed selects the rows of a list. $4 leaves out what is silent by choice: $5 has the incidents that are snoozed.
const listed = ` FROM untold WHERE account_id = $1 AND NOT ($2 LIKE '%,' || channel_id || ',%') AND ($3 = '' OR state = $3)
	AND (NOT $4 OR state <> 'by_choice' AND NOT ($5 LIKE '%,' || ref_id || ',%'))`

// list answers /incident/untold/list: what is in the table first, then the alerts that are muted.
func (r *Service) list(c *api.Call, in ListRequest) (reply api.Paged[Item], err error) {
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(20)
	var snoozed []string
	if in.ToAct {
		snoozed, err = incident.Snoozed(c.Tx, c.Who.AccountID, c.Unix())
		if err != nil {
			return reply, err
		}
	}
	args := []any{c.Who.AccountID, db.List(hidden), in.State, in.ToAct, db.List(snoozed)}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+listed, args...)
	if err != nil {
		return reply, err
	}
	rows, err := db.All(c.Tx, scanRow, `SELECT `+columns+listed+` ORDER BY since DESC, ref_id DESC LIMIT $6 + 0 OFFSET $7 + 0`,
		append(args, limit, offset)...)
	if err != nil {
		return reply, err
	}
	items := []Item{}
	for n := range rows {
		one, err := rows[n].item(c)
		if err != nil {
			return reply, err
		}
		items = append(items, one)
	}
	if in.ToAct || in.State != "" && in.State != byChoice {
		return api.NewPaged(items, offset, total), nil
	}
	muted, count, err := alert.Silent(c.Tx, c.Who.AccountID, hidden, limit-int64(len(items)), max(0, offset-total))
	for _, a := range muted {
		one := Item{Kind: "alert", AlertID: a.AlertID, ChannelID: a.ChannelID, IntegrationID: a.IntegrationID, Title: a.Title,
			Severity: a.Severity, State: byChoice, Since: a.Start}
		by, err := mutedBy(c, a)
		if err != nil {
			return reply, err
		}
		one.explain(whyMuted(a), by)
		items = append(items, one)
	}
	return api.NewPaged(items, offset, total+count), err
}

// explain sets why no rule notified a person, and by whose choice; empty: by none.
func (t *Item) explain(why, choice sentence.Value) {
	t.Why, t.WhyData = sentence.Words(why), why.Data()
	t.ByChoice, t.ByChoiceData = sentence.Words(choice), choice.Data()
}

// whyMuted describes why an alert notifies no one.
func whyMuted(a alert.Muted) sentence.Value {
	if a.Muted == string(decide.Disabled) {
		return sentence.New("its_channel_disabled")
	}
	return sentence.New("alert_is", decide.Outcome(a.Muted).Words())
}

// mutedBy describes what mutes an alert: by its name or, once it is deleted, by its id.
func mutedBy(c *api.Call, a alert.Muted) (sentence.Value, error) {
	outcome := decide.Outcome(a.Muted)
	switch {
	case outcome == decide.Disabled:
		return sentence.New("its_channel_disabled"), nil
	case a.MutedBy == "":
		return outcome.Words(), nil
	case outcome == decide.Silenced:
		rule, _, err := channel.Silences.Find(c.Tx, c.Who.AccountID, a.MutedBy)
		return sentence.New("silenced_by", cmp.Or(rule.RuleName, a.MutedBy)), err
	case outcome == decide.Inhibited:
		by, _, err := alert.Find(c.Tx, c.Who.AccountID, a.MutedBy)
		return sentence.New("inhibited_by_alert", cmp.Or(render.AlertName(by.Title, by.Labels), a.MutedBy)), err
	}
	return sentence.New("flapping_by", a.MutedBy), nil
}

// item returns a row as the list shows it: an incident as it is now.
func (w *row) item(c *api.Call) (Item, error) {
	one := Item{Kind: "event", EventID: w.event, ChannelID: w.channel, IntegrationID: w.integration, Title: w.title, Severity: w.severity,
		State: w.state, Since: w.since, LastAt: w.last, Events: w.events, NotifiedAt: w.at}
	one.explain(w.why, w.choice)
	if w.incident == "" {
		return one, nil
	}
	one.Kind = "incident"
	one.IncidentID = w.incident
	one.LastAt = 0
	i, found, err := incident.Find(c.Tx, w.account, w.incident)
	if err != nil || !found {
		return one, err
	}
	one.Title, err = i.NameNow(c.Tx)
	if err != nil {
		return one, err
	}
	one.Severity = i.Severity
	if i.SnoozedBefore > c.Unix() {
		one.State = byChoice
		one.explain(w.why, sentence.New("is_snoozed"))
	}
	return one, nil
}
