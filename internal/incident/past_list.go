package incident

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/core/similar"
	"tocsin/internal/platform/db"
)

// PastRequest asks for earlier incidents that are similar to one.
type PastRequest struct {
	OneRequest
	Limit int64 `json:"limit,omitzero" minimum:"0" maximum:"100" doc:"How many at most, 5 when absent or 0."`
}

// PastView is an earlier incident that is similar.
type PastView struct {
	View
	Score   float64          `json:"score" minimum:"0" maximum:"1" doc:"How similar it is: 1 is the same title and the same labels."`
	Reasons []sentence.Words `json:"reasons" maxItems:"2" doc:"Why it is similar: what both have in common."`
}

// mostCompared is the number of earlier incidents of the account that one call compares. Those with an alert of the same
// key are compared besides, however old they are.
const mostCompared = 3000

// earlier is a row that may be similar.
type earlier struct {
	id      string
	channel int64
	start   int64
	match   similar.Match
}

func (r *Service) pastList(c *api.Call, in PastRequest) (reply api.Items[PastView], err error) {
	reply.Items = []PastView{}
	of, err := Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return reply, err
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	found, err := compareEarlier(c.Tx, &of, hidden)
	if err != nil {
		return reply, err
	}
	slices.SortFunc(found, func(a, b earlier) int {
		return cmp.Or(cmp.Compare(b.match.Score, a.match.Score), cmp.Compare(b.start, a.start), cmp.Compare(b.id, a.id))
	})
	found = slices.CompactFunc(found, func(a, b earlier) bool { return a.id == b.id })
	found = found[:min(len(found), int(cmp.Or(in.Limit, 5)))]
	ids := make([]string, len(found))
	for i, e := range found {
		ids[i] = e.id
	}
	read, err := findAll(c.Tx, c.Who.AccountID, ids)
	if err != nil {
		return reply, err
	}
	all := make([]Incident, len(found))
	for i, id := range ids {
		all[i] = *read[id] // of the same snapshot
	}
	views, err := r.showPage(c.Tx, c.Who.AccountID, all)
	for i, v := range views {
		match := &found[i].match
		reply.Items = append(reply.Items, PastView{View: v, Score: float64(match.Score) / 1000, Reasons: sentence.ToWords(match.Reasons)})
	}
	return reply, err
}

// compareEarlier returns the earlier incidents that are similar, in no order; one may be there twice. It reads a bounded
// number of rows, and checks permissions afterwards: with the check in the query, an account with many incidents in
// private channels would have all of them read.
func compareEarlier(tx *db.Tx, of *Incident, hidden []int64) (found []earlier, err error) {
	subject := similar.New(of.Title, of.Labels)
	compare := func(scan db.Scan) (none struct{}, err error) {
		var e earlier
		var title, body string
		if err := scan(&e.id, &e.channel, &e.start, &title, &body); err != nil {
			return none, err
		}
		past := e.start < of.StartTime || e.start == of.StartTime && e.id < of.IncidentID
		var detail struct {
			Labels map[string]string `json:"labels"`
			Test   bool              `json:"is_test"`
		}
		if !past || slices.Contains(hidden, e.channel) || json.Unmarshal([]byte(body), &detail) != nil || detail.Test {
			return none, nil // a row that cannot be read is not similar, and is no reason to show no other
		}
		e.match = subject.Compare(title, detail.Labels)
		if e.match.Score >= similar.Least {
			found = append(found, e)
		}
		return none, nil
	}
	_, err = db.All(tx, compare, `SELECT incident_id, channel_id, start_time, title, body FROM incident
		WHERE account_id = $1 AND start_time <= $2 ORDER BY start_time DESC, incident_id DESC LIMIT $3`, of.AccountID, of.StartTime, mostCompared)
	if err != nil {
		return nil, err
	}
	same, err := alert.SameKey(tx, of.AccountID, of.IncidentID, hidden)
	if err != nil {
		return nil, err
	}
	slices.Sort(same)
	for _, id := range slices.Compact(same) {
		if _, err := db.All(tx, compare, `SELECT incident_id, channel_id, start_time, title, body FROM incident
			WHERE account_id = $1 AND incident_id = $2`, of.AccountID, id); err != nil {
			return nil, err
		}
	}
	return found, nil
}
