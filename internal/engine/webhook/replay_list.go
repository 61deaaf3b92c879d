package webhook

import (
	"slices"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

// Replay is a replay as lists show it.
type Replay struct {
	ReplayID      string         `json:"replay_id" doc:"24 hexadecimal digits."`
	IntegrationID int64          `json:"integration_id" doc:"The webhook."`
	Status        string         `json:"status" enum:"running,done,cancelled" doc:"running; done: every message was sent or is being sent; or cancelled."`
	Reason        sentence.Words `json:"reason" doc:"Why it was cancelled; empty when it was not."`
	Count         int64          `json:"count" doc:"How many messages it found when it began."`
	Sent          int64          `json:"sent" doc:"How many of them were sent so far, or are being sent."`
	StartTime     int64          `json:"start_time" doc:"Its window, Unix milliseconds, as the next."`
	EndTime       int64          `json:"end_time" doc:"The end of its window."`
	EventTypes    []string       `json:"event_types" doc:"Only these event types; none: all."`
	RefID         string         `json:"ref_id" doc:"Only messages about this incident or alert; empty: about all."`
	CreatorID     int64          `json:"creator_id" doc:"The person who began it."`
	CreatedAt     int64          `json:"created_at" doc:"When, Unix seconds."`
	EndedAt       int64          `json:"ended_at" doc:"When it ended, Unix seconds; 0: it goes on."`

	filter          replayFilter
	account         int64
	position, after int64 // of the last message that was looked at: happened_at and number
}

const replayColumns = `account_id, replay_id, integration_id, status, reason, found, sent, filter, person_id, created_at, ended_at,
	position_at, position_number`

func scanReplay(scan db.Scan) (p Replay, err error) {
	var text string
	var why sentence.Value
	if err := scan(&p.account, &p.ReplayID, &p.IntegrationID, &p.Status, (*string)(&why), &p.Count, &p.Sent, &text, &p.CreatorID, &p.CreatedAt,
		&p.EndedAt, &p.position, &p.after); err != nil {
		return p, err
	}
	err = json.Unmarshal([]byte(text), &p.filter)
	p.Reason = sentence.Words(why)
	p.StartTime = p.filter.From
	p.EndTime = p.filter.To
	p.RefID = p.filter.Ref
	p.EventTypes = append([]string{}, p.filter.EventTypes...)
	return p, err
}

// ReplayListRequest asks for the latest replays.
type ReplayListRequest struct {
	IntegrationID int64 `json:"integration_id,omitzero" minimum:"0" doc:"Only replays of this webhook; 0: of all."`
}

// maxListed is how many replays a list shows.
const maxListed = 100

// replayList is POST /webhook/replay/list. Replays of webhooks that name a private channel are left out for callers who
// may not read it.
func (r *Service) replayList(c *api.Call, in ReplayListRequest) (api.Items[Replay], error) {
	hidden, err := integration.Hidden(c.Tx, c.Who)
	if err != nil {
		return api.Items[Replay]{}, err
	}
	all, err := db.All(c.Tx, scanReplay, `SELECT `+replayColumns+` FROM webhook_replay
		WHERE account_id = $1 AND ($2 = 0 OR integration_id = $2) ORDER BY created_at DESC, replay_id DESC`, c.Who.AccountID, in.IntegrationID)
	all = slices.DeleteFunc(all, func(p Replay) bool { return slices.Contains(hidden, p.IntegrationID) })
	return api.Items[Replay]{Items: append([]Replay{}, all[:min(maxListed, len(all))]...)}, err
}

func findReplay(tx *db.Tx, account int64, id string) (Replay, bool, error) {
	return db.One(tx, scanReplay, `SELECT `+replayColumns+` FROM webhook_replay WHERE account_id = $1 AND replay_id = $2`, account, id)
}
