package triage

import (
	"fmt"

	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
)

// warn tells the account's owner of rules that cost too much and count as not matching, of each once an hour.
func (r *Service) warn(tx *db.Tx, m *snapshot, v *verdict) error {
	if r.Notify == nil {
		return nil
	}
	for _, step := range v.Over {
		rule := notify.SlowRule{Where: fmt.Sprintf("channel %d", v.Channel), Stage: step.Stage, ID: step.Rule, Name: step.Name, About: v.Event.Title, Why: step.Why}
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

// first reports whether this was not warned of in an hour (since 1970) as far as the room remembers, which spares asking
// the database about each event. It says so twice, as the transaction of the first time may fail.
func (r *Service) first(key string, hour int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hour != hour || len(r.warned) > maxKept {
		r.hour = hour
		clear(r.warned)
	}
	r.warned[key]++
	return r.warned[key] <= 2
}
