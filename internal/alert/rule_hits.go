package alert

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxHits is how many events are looked at for the hits of rules.
const maxHits = 10_000

// HitsRequest asks how many events the rules of a channel held back.
type HitsRequest struct {
	ChannelID int64 `json:"channel_id" minimum:"1" doc:"The channel."`
	Days      int64 `json:"days,omitzero" minimum:"0" maximum:"31" doc:"Events of so many last days; absent: 7."`
}

// Hits is the reply.
type Hits struct {
	Items    []Hit `json:"items" doc:"The rules that held back events, those with the latest event first."`
	Complete bool  `json:"complete" doc:"Whether all events of the days were counted; at most the newest 10,000 are."`
}

// Hit is how many events a rule held back.
type Hit struct {
	RuleID    string `json:"rule_id" doc:"The rule; it may be deleted since."`
	RuleName  string `json:"rule_name" doc:"Its name when it held back the latest event."`
	Stage     string `json:"stage" enum:"drop,silence,inhibit" doc:"The kind of the rule."`
	Events    int64  `json:"events" doc:"How many events."`
	LastAt    int64  `json:"last_at" doc:"When the latest happened, Unix seconds."`
	LastTitle string `json:"last_title" doc:"Its title."`
	LastName  string `json:"last_headline" doc:"What people read of it: what is wrong, and in brackets where."`
	LastEvent string `json:"last_event_id" doc:"Its event, see /alert/explain."`
}

// byRules are the events of a channel that its rules held back.
const byRules = `SELECT event_id, event_time, body, trace FROM verdict
	WHERE account_id = $1 AND event_time >= $2 AND channel_id = $3 AND event_id <> '' AND outcome IN ('dropped', 'silenced', 'inhibited')
	ORDER BY event_time DESC, verdict_id DESC LIMIT $4`

// ruleHits counts the events that each rule of a channel held back.
func ruleHits(c *api.Call, in HitsRequest) (reply Hits, err error) {
	reply.Items = []Hit{}
	if err := channel.Readable(c.Tx, c.Who, in.ChannelID); err != nil {
		return reply, err
	}
	of, rows := map[string]int{}, 0
	_, err = db.All(c.Tx, func(scan db.Scan) (none struct{}, err error) {
		var hit Hit
		var body, trace string
		if rows++; rows > maxHits {
			return none, nil
		}
		if err := scan(&hit.LastEvent, &hit.LastAt, &body, &trace); err != nil {
			return none, err
		}
		rule, err := heldBy(trace)
		if err != nil || rule == nil {
			return none, fault.Wrap(err, "trace of event %s", hit.LastEvent)
		}
		i, known := of[rule.Rule]
		if !known {
			hit.RuleID = rule.Rule
			hit.RuleName = rule.Name
			hit.Stage = rule.Stage
			var last event.Event
			if err := json.Unmarshal([]byte(body), &last); err != nil {
				return none, fault.Wrap(err, "event %s", hit.LastEvent)
			}
			hit.LastTitle, hit.LastName = last.Title, render.AlertName(last.Title, last.Labels)
			i = len(reply.Items)
			of[rule.Rule], reply.Items = i, append(reply.Items, hit)
		}
		reply.Items[i].Events++
		return none, nil
	}, byRules, c.Who.AccountID, c.Unix()-cmp.Or(in.Days, 7)*86400, in.ChannelID, maxHits+1)
	reply.Complete = rows <= maxHits
	return reply, err
}

// heldBy returns the step of a trace that held the event back; nil: no rule did, as when the channel is disabled.
func heldBy(trace string) (*decide.Step, error) {
	var steps []decide.Step
	if err := json.Unmarshal([]byte(trace), &steps); err != nil {
		return nil, err
	}
	for i := range steps {
		switch s := &steps[i]; s.Stage {
		case "drop", "silence", "inhibit":
			if s.Matched && s.Rule != "" {
				return s, nil
			}
		}
	}
	return nil, nil
}
