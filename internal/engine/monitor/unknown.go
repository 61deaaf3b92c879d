package monitor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/db"
)

// unknownBody is what is stored of a watch, or of a datasource, that is not known.
type unknownBody struct {
	Kind    evaluate.Kind `json:"kind"`
	Message string        `json:"message"`
	Lost    bool          `json:"lost,omitzero"`  // its datasource answers no one, and has an alert of its own
	Alert   string        `json:"alert,omitzero"` // the key of its alert
}

// unknown is a watch that is not known; rule 0: its datasource.
type unknown struct {
	key   evaluator.Key
	since int64 // Unix milliseconds
	unknownBody
}

func scanUnknown(scan db.Scan) (u unknown, err error) {
	var rule, source int64
	var body string
	if err := scan(&u.key.Account, &rule, &source, &u.since, &body); err != nil {
		return u, err
	}
	u.key.Rule, u.key.Datasource = uint64(rule), uint64(source)
	_ = json.Unmarshal([]byte(body), &u.unknownBody) // that it is not known is known
	return u, nil
}

func unknownsOf(tx *db.Tx, account int64) (map[evaluator.Key]unknown, error) {
	list, err := db.All(tx, scanUnknown,
		`SELECT account_id, rule_id, datasource_id, since, body FROM rule_watch WHERE account_id = $1`, account)
	all := make(map[evaluator.Key]unknown, len(list))
	for _, u := range list {
		all[u.key] = u
	}
	return all, err
}

func (u *unknown) save(tx *db.Tx) error {
	body, err := json.Marshal(u.unknownBody, json.Deterministic(true))
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO rule_watch (account_id, rule_id, datasource_id, since, body) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, rule_id, datasource_id) DO UPDATE SET since = excluded.since, body = excluded.body`,
		u.key.Account, int64(u.key.Rule), int64(u.key.Datasource), u.since, string(body))
}

func forget(tx *db.Tx, key evaluator.Key) error {
	return tx.Do(`DELETE FROM rule_watch WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3`,
		key.Account, int64(key.Rule), int64(key.Datasource))
}

// endUnknown ends the alerts of watches and datasources that are evaluated no more, or hidden.
func (r *Service) endUnknown(
	tx *db.Tx, account int64, gone func(evaluator.Key) bool, end func(*db.Tx, int64, string, time.Time) error, now time.Time,
) error {
	stored, err := unknownsOf(tx, account)
	if err != nil {
		return err
	}
	for key, u := range stored {
		if !gone(key) {
			continue
		}
		delete(stored, key)
		if err := forget(tx, key); err != nil {
			return err
		}
		if u.Alert == "" || shares(stored, u) {
			continue
		}
		if err := end(tx, account, u.Alert, now); err != nil {
			return err
		}
	}
	return nil
}

// report stores which watches and datasources are not known, and raises and ends their alerts. An account whose report fails
// must not keep the others from theirs.
func (r *Service) report(ctx context.Context, report evaluator.Report) (err error) {
	watches, sources := map[int64][]evaluator.WatchState{}, map[int64][]evaluator.SourceState{}
	accounts := map[int64]bool{}
	for _, w := range report.Watches {
		watches[w.Account] = append(watches[w.Account], w)
		accounts[w.Account] = true
	}
	for _, s := range report.Sources {
		sources[s.Account] = append(sources[s.Account], s)
		accounts[s.Account] = true
	}
	for account := range accounts {
		err = errors.Join(err, r.reportOf(ctx, account, watches[account], sources[account], report.At))
	}
	return err
}

// reportOf is report for one account. What is known and was known before costs no write.
func (r *Service) reportOf(
	ctx context.Context, account int64, watches []evaluator.WatchState, sources []evaluator.SourceState, now time.Time,
) error {
	var stored map[evaluator.Key]unknown
	err := r.DB.Read(db.For(ctx, account), func(tx *db.Tx) (err error) {
		stored, err = unknownsOf(tx, account)
		return err
	})
	if err != nil {
		return err
	}
	news := false
	for _, w := range watches {
		_, was := stored[w.Key]
		news = news || was || w.Unknown
	}
	for _, s := range sources {
		_, was := stored[evaluator.Key{Account: account, Datasource: s.ID}]
		news = news || was || s.Lost
	}
	if !news {
		return nil
	}
	return r.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
		stored, err := unknownsOf(tx, account)
		if err != nil {
			return err
		}
		for _, s := range sources {
			if err := r.source(tx, s, stored, now); err != nil {
				return err
			}
		}
		for _, w := range watches {
			if err := r.watch(tx, w, stored, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// lasts is how long an alert of a datasource or rule goes on that is not reported again: the process that reported it may be
// gone. A lost datasource is reported again every minute.
const lasts = 5 * time.Minute

// standing is how long an alert of a rule lasts at most. It is ended when the rule is known again.
const standing = 365 * 24 * time.Hour

// source raises the alert of a lost datasource, or ends it.
func (r *Service) source(tx *db.Tx, s evaluator.SourceState, stored map[evaluator.Key]unknown, now time.Time) error {
	key := evaluator.Key{Account: s.Account, Datasource: s.ID}
	alert := fmt.Sprintf("monit/source/%d", s.ID)
	before, was := stored[key]
	if !s.Lost {
		if !was {
			return nil
		}
		if err := forget(tx, key); err != nil {
			return err
		}
		return r.Own.End(tx, s.Account, alert, now)
	}
	u := unknown{key: key, since: s.Since.UnixMilli(), unknownBody: unknownBody{Kind: s.Kind, Message: s.Message, Alert: alert}}
	if was {
		u.since = before.since
	}
	if err := u.save(tx); err != nil {
		return err
	}
	severity, blind := blindness(s.Blind)
	return r.Own.Raise(tx, selfalert.Alert{
		Account: s.Account, Key: alert, Severity: severity, Lasts: lasts,
		Title:  fmt.Sprintf("The datasource %s cannot be reached: %s", s.Name, blind),
		Text:   s.Message + ". Alerts that are open stay open, and none can begin, until it answers again.",
		Labels: map[string]string{"ds_name": s.Name},
	}, now)
}

// blindness describes the rules that do not see, with the highest severity among them.
func blindness(count map[string]int64) (highest, text string) {
	highest = event.Info
	var parts []string
	total := int64(0)
	for _, severity := range []string{event.Critical, event.Warning, event.Info} {
		n := count[severity]
		if n == 0 {
			continue
		}
		if event.Rank(severity) > event.Rank(highest) {
			highest = severity
		}
		total += n
		parts = append(parts, fmt.Sprintf("%d %s", n, severity))
	}
	if total == 1 {
		return highest, "1 alert rule does not see (" + parts[0] + ")"
	}
	return highest, fmt.Sprintf("%d alert rules do not see (%s)", total, strings.Join(parts, ", "))
}

// mostRules is how many rules of a datasource have an alert of their own that they are not known. Further ones share one.
const mostRules = 10

// watch raises the alert of a watch that is not known although its datasource answers others, or ends it.
func (r *Service) watch(tx *db.Tx, w evaluator.WatchState, stored map[evaluator.Key]unknown, now time.Time) error {
	before, was := stored[w.Key]
	if was && before.Alert != "" && (!w.Unknown || w.Lost) {
		delete(stored, w.Key)
		end := r.Own.End
		if w.Lost {
			end = r.Own.Hide
		}
		if !shares(stored, before) {
			if err := end(tx, w.Account, before.Alert, now); err != nil {
				return err
			}
		}
		before.Alert = ""
	}
	if !w.Unknown {
		delete(stored, w.Key)
		return forget(tx, w.Key)
	}
	u := unknown{
		key: w.Key, since: w.Since.UnixMilli(),
		unknownBody: unknownBody{Kind: w.Kind, Message: w.Message, Lost: w.Lost, Alert: before.Alert},
	}
	if was {
		u.since = before.since
	}
	if !w.Lost && u.Alert == "" {
		u.Alert = fmt.Sprintf("monit/rule/%d/%d", w.Key.Rule, w.Key.Datasource)
		if alerts(stored, w.Key.Datasource) >= mostRules {
			u.Alert = fmt.Sprintf("monit/rules/%d", w.Key.Datasource)
		}
	}
	stored[w.Key] = u
	if err := u.save(tx); err != nil || w.Lost {
		return err
	}
	a := selfalert.Alert{
		Account: w.Account, Key: u.Alert, Severity: w.Severity, Lasts: standing,
		Title:  fmt.Sprintf("The alert rule %s is not known on %s: %s", w.Rule, w.Source, w.Kind),
		Text:   w.Message + ". Its alerts that are open stay open, and none can begin, until its queries are answered again.",
		Labels: map[string]string{"ds_name": w.Source, "rule_name": w.Rule},
	}
	if u.Alert == fmt.Sprintf("monit/rules/%d", w.Key.Datasource) {
		a.Title = fmt.Sprintf("More than %d alert rules are not known on %s, such as %s", mostRules, w.Source, w.Rule)
	}
	return r.Own.Raise(tx, a, now)
}

// shares reports whether the alert of a watch is that of another watch as well.
func shares(stored map[evaluator.Key]unknown, of unknown) bool {
	for key, u := range stored {
		if key != of.key && u.Alert == of.Alert {
			return true
		}
	}
	return false
}

// alerts returns how many watches of a datasource have an alert of their own.
func alerts(stored map[evaluator.Key]unknown, source uint64) (n int) {
	for key, u := range stored {
		if key.Rule != 0 && key.Datasource == source && u.Alert != "" && !strings.HasPrefix(u.Alert, "monit/rules/") {
			n++
		}
	}
	return n
}
