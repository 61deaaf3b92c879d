package webhook

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Bounds of a replay.
const (
	maxWindow   = 30 * 24 * time.Hour
	maxReplayed = 1_000_000 // messages of one replay
)

// ReplayRequest asks to send the messages of a window again, or how many those are.
type ReplayRequest struct {
	IntegrationIDs []int64  `json:"integration_ids" minItems:"1" maxItems:"50" doc:"The webhooks whose messages are sent again, each to its own endpoint."`
	StartTime      int64    `json:"start_time" minimum:"1000000000000" maximum:"9999999999999" doc:"Start of the window in Unix milliseconds, inclusive."`
	EndTime        int64    `json:"end_time" minimum:"1000000000000" maximum:"9999999999999" doc:"End of the window in Unix milliseconds, exclusive; at most 30 days after start_time. What happens after the call is not sent again."`
	EventTypes     []string `json:"event_types,omitzero" maxItems:"50" maxLength:"64" doc:"Only these event types; none: all."`
	Status         string   `json:"status,omitzero" enum:"success,failed,cancelled" doc:"Only messages that ended so: success, failed for good, or cancelled because the webhook was disabled; absent: all of them."`
	RefID          string   `json:"ref_id,omitzero" maxLength:"128" doc:"Only messages about this incident or alert."`
	Count          *int64   `json:"count,omitzero" minimum:"0" doc:"The count of the dry run. The call is refused if it finds many more or fewer now. Required without dry_run."`
	api.DryRun
}

// Check rejects a window that is empty or too long, and a replay that no dry run was made for.
func (in ReplayRequest) Check() error {
	switch {
	case in.EndTime <= in.StartTime:
		return fault.Invalid("end_time", "must be greater than start_time %d, got %d", in.StartTime, in.EndTime)
	case in.EndTime-in.StartTime > maxWindow.Milliseconds():
		return fault.Invalid("end_time", "must be at most 30 days after start_time, got %d hours", (in.EndTime-in.StartTime)/3_600_000)
	case in.Count == nil && !in.DryRun.Only:
		return fault.Invalid("count", "is required: make a dry run first, and send its count")
	}
	return nil
}

// ReplayStarted is the reply of /webhook/replay.
type ReplayStarted struct {
	Count    int64         `json:"count" doc:"How many messages are sent again; with dry_run: would be."`
	Webhooks []replayCount `json:"webhooks" doc:"The same for each webhook."`
	api.Warnings
}

type replayCount struct {
	IntegrationID int64  `json:"integration_id" doc:"The webhook."`
	Count         int64  `json:"count" doc:"How many of its messages."`
	ReplayID      string `json:"replay_id" doc:"The replay, for /webhook/replay/list and cancel; empty when there is none, as with dry_run."`
}

// replayFilter selects the messages of a replay. It is stored with it.
type replayFilter struct {
	From       int64    `json:"start_time"` // Unix milliseconds, inclusive
	To         int64    `json:"end_time"`   // exclusive
	EventTypes []string `json:"event_types,omitempty"`
	Status     string   `json:"status,omitzero"` // of a message
	Ref        string   `json:"ref_id,omitzero"`
	Hidden     []int64  `json:"hidden,omitempty"` // channels that the caller may not read
}

// settled is a message that was settled, as far as a filter looks at it.
type settled struct {
	id, status, eventType, ref, origin string
	channel                            int64
}

// matches reports whether a message is sent again. A test is not: nothing happened.
func (f *replayFilter) matches(m *settled) bool {
	return m.origin != test && (f.Status == "" || f.Status == m.status) && (f.Ref == "" || f.Ref == m.ref) &&
		(len(f.EventTypes) == 0 || slices.Contains(f.EventTypes, m.eventType)) && !slices.Contains(f.Hidden, m.channel)
}

// count returns how many messages of a webhook the filter finds.
func (f *replayFilter) count(tx *db.Tx, account, hook int64) (n int64, err error) {
	_, err = db.All(tx, func(scan db.Scan) (struct{}, error) {
		var m settled
		var some int64
		err := scan(&m.status, &m.eventType, &m.channel, &m.ref, &m.origin, &some)
		if f.matches(&m) {
			n += some
		}
		return struct{}{}, err
	}, `SELECT status, event_type, channel_id, CASE WHEN ref_id = $5 THEN ref_id ELSE '' END AS ref, origin, count(*) FROM webhook_message
		WHERE account_id = $1 AND integration_id = $2 AND settled_at > 0 AND happened_at >= $3 AND happened_at < $4
		GROUP BY status, event_type, channel_id, ref, origin`, account, hook, f.From, f.To, f.Ref)
	return n, err
}

// countedReplay is a replay whose messages were counted.
type countedReplay struct {
	ReplayRequest
	filter   replayFilter
	webhooks []replayCount
}

// countReplay is the first part of POST /webhook/replay: a million messages are counted without the writer.
func (r *Service) countReplay(c *api.Call, in ReplayRequest) (found countedReplay, err error) {
	f := replayFilter{From: in.StartTime, To: min(in.EndTime, c.Now.UnixMilli()), EventTypes: in.EventTypes, Status: in.Status, Ref: in.RefID}
	if f.Status == "success" {
		f.Status = delivered
	}
	slices.Sort(in.IntegrationIDs)
	found = countedReplay{ReplayRequest: in, webhooks: []replayCount{}}
	err = c.Read(func() (err error) {
		f.Hidden, err = channel.Hidden(c.Tx, c.Who)
		if err != nil {
			return err
		}
		for _, hook := range slices.Compact(in.IntegrationIDs) {
			if err := integration.Permit(c, hook); err != nil {
				return err
			}
			n, err := f.count(c.Tx, c.Who.AccountID, hook)
			if err != nil {
				return err
			}
			found.webhooks = append(found.webhooks, replayCount{IntegrationID: hook, Count: n})
		}
		return nil
	})
	found.filter = f
	return found, err
}

// startReplay is the second part: it stores the replays.
func (r *Service) startReplay(c *api.Call, in countedReplay) (out ReplayStarted, err error) {
	for _, one := range in.webhooks {
		one, err = r.startOne(c, in.filter, one, in.DryRun.Only)
		if err != nil {
			return out, err
		}
		out.Webhooks, out.Count = append(out.Webhooks, one), out.Count+one.Count
	}
	if out.Count > maxReplayed {
		return out, fault.Invalid("end_time", "must leave at most %d messages, found %d", maxReplayed, out.Count)
	}
	if in.Count != nil && differs(*in.Count, out.Count) {
		return out, fault.New(fault.Conflict, "found %d messages, not %d as the dry run: make another one", out.Count, *in.Count)
	}
	c.Tx.OnCommit(r.replays.Raise)
	return out, nil
}

// differs reports whether a count is another than was expected, by more than a tenth and more than 10: messages end
// between a dry run and its replay.
func differs(want, got int64) bool { return max(got-want, want-got) > max(10, want/10) }

// startOne stores the replay of the messages of a webhook, if there are any.
func (r *Service) startOne(c *api.Call, f replayFilter, one replayCount, dry bool) (replayCount, error) {
	hook := one.IntegrationID
	if err := integration.Permit(c, hook); err != nil {
		return one, err
	}
	i, err := r.callable(c, hook)
	if err != nil {
		return one, err
	}
	c.Touched(integration.Kind.Name, hook, i.IntegrationName)
	running, found, err := db.One(c.Tx, db.Column[string],
		`SELECT replay_id FROM webhook_replay WHERE account_id = $1 AND integration_id = $2 AND status = 'running'`, c.Who.AccountID, hook)
	switch {
	case err != nil:
		return one, err
	case found:
		return one, fault.New(fault.Conflict, "the replay %s of integration %d goes on: wait for its end, or cancel it", running, hook)
	case dry || one.Count == 0:
		return one, nil
	}
	one.ReplayID = id.Object(c.Now)
	text, err := json.Marshal(f, json.Deterministic(true))
	if err != nil {
		return one, fmt.Errorf("the filter of a replay: %w", err)
	}
	err = c.Tx.Do(`INSERT INTO webhook_replay (account_id, replay_id, integration_id, filter, found, sent, position_at, position_number,
			status, reason, person_id, created_at, ended_at)
		VALUES ($1, $2, $3, $4, $5, 0, $6, 0, 'running', '', $7, $8, 0)`,
		c.Who.AccountID, one.ReplayID, hook, string(text), one.Count, f.From, c.Who.PersonID, c.Unix())
	return one, err
}
