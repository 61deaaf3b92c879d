package triage

import (
	"fmt"

	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
)

// warn notifies the account's owner of rules that cost too much and count as not matching, once an hour for each rule.
func (r *Service) warn(tx *db.Tx, m *snapshot, v *verdict) error {
	if r.Notify == nil {
		return nil
	}
	for _, step := range v.Over {
		rule := notify.SlowRule{
			Where: fmt.Sprintf("channel %d", v.Channel),
			Stage: step.Stage,
			ID:    step.Rule,
			Name:  step.Name,
			About: v.Event.Title,
			Why:   step.Why.English(),
		}
		if rule.ID == "" && step.Stage != "group" { // of enrichment, pipeline or route
			rule.Where = fmt.Sprintf("integration %d", v.Event.Integration)
		}
		if !r.first(fmt.Sprint(m.account, rule.Where, rule.Stage, rule.ID, rule.Name), m.now.Unix()/3600) {
			continue
		}
		if err := r.Notify.Slow(tx, m.account, rule, m.now); err != nil {
			return err
		}
	}
	return nil
}

// first reports whether a warning is new in an hour (counted since 1970), as far as the process remembers. That saves a
// query for each event. It returns true twice, because the transaction of the first warning may be rolled back.
func (r *Service) first(key string, hour int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hour != hour || len(r.warned) > maxCached {
		r.hour = hour
		clear(r.warned)
	}
	r.warned[key]++
	return r.warned[key] <= 2
}
