package story

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
)

// count reads one number.
func (w *world) count(query string, args ...any) (n int64) {
	w.t.Helper()
	w.must(w.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query, args...)
		return err
	}))
	return n
}

// invariants are what must hold whenever all that is due was done: a query that counts what breaks each.
var invariants = map[string]string{
	"a row belongs to no account": `SELECT count(*) FROM (SELECT account_id FROM event UNION SELECT account_id FROM event_waiting
		UNION SELECT account_id FROM verdict UNION SELECT account_id FROM feed UNION SELECT account_id FROM webhook_delivery
		UNION SELECT account_id FROM webhook_exchange) AS x WHERE account_id NOT IN (SELECT account_id FROM account)`,
	"an event has no verdict":                       `SELECT count(*) FROM event e WHERE EXISTS (SELECT 1 FROM event_waiting w WHERE w.account_id = e.account_id AND w.event_id = e.event_id) OR NOT EXISTS (SELECT 1 FROM verdict v WHERE v.account_id = e.account_id AND v.event_id = e.event_id)`,
	"an event has two verdicts in a channel":        `SELECT count(*) FROM (SELECT 1 FROM verdict WHERE event_id <> '' GROUP BY event_id, channel_id HAVING count(*) > 1) AS x`,
	"a verdict has no reasons":                      `SELECT count(*) FROM verdict WHERE trace IN ('', '[]', 'null')`,
	"a muted alert has no moment to look again":     `SELECT count(*) FROM alert WHERE end_time = 0 AND muted <> '' AND muted_until = 0`,
	"an active alert is neither muted nor anywhere": `SELECT count(*) FROM alert WHERE end_time = 0 AND muted = '' AND incident_id = ''`,
	"an active alert is in a closed incident":       `SELECT count(*) FROM alert a JOIN incident i ON i.account_id = a.account_id AND i.incident_id = a.incident_id WHERE a.end_time = 0 AND i.progress = 'Closed'`,
	"an open incident has neither an escalation, a notice nor a reason": `SELECT count(*) FROM incident i WHERE i.progress = 'Triggered'
		AND NOT EXISTS (SELECT 1 FROM escalation e WHERE e.incident_id = i.incident_id AND e.next_at > 0)
		AND NOT EXISTS (SELECT 1 FROM notice n WHERE n.incident_id = i.incident_id)
		AND NOT EXISTS (SELECT 1 FROM feed f WHERE f.ref_id = i.incident_id AND f.type = 'i_exhausted')`,
	"an open incident reached neither a person nor the fallback, and is in no list": `SELECT count(*) FROM incident i WHERE i.progress = 'Triggered'
		AND NOT EXISTS (SELECT 1 FROM escalation e WHERE e.incident_id = i.incident_id AND e.next_at > 0)
		AND NOT EXISTS (SELECT 1 FROM notice n WHERE n.incident_id = i.incident_id AND n.status IN ('sent', 'sending', 'waiting') AND n.person_id <> 0)
		AND NOT EXISTS (SELECT 1 FROM untold u WHERE u.ref_id = i.incident_id)`,
	"an incident is in the list and waits for nothing": `SELECT count(*) FROM untold WHERE state IN ('waiting', 'unreached') AND next_at = 0`,
	"an incident is in the list and no message reached the fallback": `SELECT count(*) FROM untold u WHERE u.state = 'fallback' AND u.incident_id <> ''
		AND NOT EXISTS (SELECT 1 FROM notice n WHERE n.incident_id = u.incident_id AND n.status = 'sent' AND n.cause = 'fallback')`,
	"a closed or acknowledged incident is in the list": `SELECT count(*) FROM untold u JOIN incident i ON i.incident_id = u.incident_id WHERE i.progress <> 'Triggered'`,
	"an escalation of a closed incident goes on":       `SELECT count(*) FROM escalation e JOIN incident i ON i.incident_id = e.incident_id WHERE i.progress = 'Closed' AND e.next_at > 0`,
	pageWaits: `SELECT count(*) FROM notice n JOIN incident i ON i.incident_id = n.incident_id WHERE n.settled_at = 0 AND n.cause IN ('page', 'fallback') AND i.progress = 'Closed'`,
	"an escalation has ended without a reason":           `SELECT count(*) FROM escalation WHERE next_at = 0 AND ended = ''`,
	"an escalation goes wrong":                           `SELECT count(*) FROM escalation WHERE ended = 'failing'`,
	"a follow-up goes wrong":                             `SELECT count(*) FROM follow_up WHERE failed_at > 0`,
	"a follow-up of a closed incident is left":           `SELECT count(*) FROM follow_up f JOIN incident i ON i.incident_id = f.incident_id WHERE i.progress = 'Closed'`,
	"an acknowledged incident has no follow-up":          `SELECT count(*) FROM incident i WHERE i.progress = 'Processing' AND NOT EXISTS (SELECT 1 FROM follow_up f WHERE f.incident_id = i.incident_id)`,
	"an incident has a follow-up while its rule goes on": `SELECT count(*) FROM follow_up f JOIN incident i ON i.incident_id = f.incident_id JOIN escalation e ON e.incident_id = f.incident_id WHERE i.progress = 'Triggered' AND e.next_at > 0 AND e.ended = ''`,
	"a rise is not notified": `SELECT count(*) FROM escalation e JOIN incident i ON i.incident_id = e.incident_id WHERE i.progress = 'Triggered' AND e.next_at = 0
		AND e.run = (SELECT max(run) FROM escalation l WHERE l.incident_id = e.incident_id) AND e.severity <> 'Critical' AND i.severity = 'Critical' AND e.severity <> ''`,
	"two alerts of a key are active in a channel": `SELECT count(*) FROM (SELECT 1 FROM alert WHERE end_time = 0 GROUP BY channel_id, alert_key HAVING count(*) > 1) AS x`,
	"two escalations of an incident go on":        `SELECT count(*) FROM (SELECT 1 FROM escalation WHERE next_at > 0 GROUP BY incident_id HAVING count(*) > 1) AS x`,
}

// pageWaits is broken for a while when one program closes an incident while another attempts a page of it, and fails: what
// is attempted cannot be cancelled. The page is cancelled when its retry is due.
const pageWaits = "a page of an acknowledged or closed incident waits"

// overdueQueries are what may not be left when all that is due was done; $1 is the moment in Unix milliseconds.
var overdueQueries = map[string]string{
	"escalation":  `SELECT count(*) FROM escalation WHERE next_at > 0 AND next_at * 1000 <= $1`,
	"follow-up":   `SELECT count(*) FROM follow_up WHERE next_at > 0 AND next_at * 1000 <= $1`,
	"muted alert": `SELECT count(*) FROM alert WHERE end_time = 0 AND muted_until > 0 AND muted_until * 1000 <= $1`,
	"notice":      `SELECT count(*) FROM notice WHERE settled_at = 0 AND due_at <= $1`,
	"silence":     `SELECT count(*) FROM silence_end WHERE due_at > 0 AND due_at * 1000 <= $1 AND end_at * 1000 > $1`,
	"untold":      `SELECT count(*) FROM untold WHERE next_at > 0 AND next_at * 1000 <= $1`,
	"snooze":      `SELECT count(*) FROM incident WHERE progress <> 'Closed' AND snoozed_before > 0 AND snoozed_before * 1000 <= $1`,
}

// Long random runs have events, changing rules, acting people, failing receivers, jumping clocks and ending processes. All
// due work is done, and no person is notified of the same thing twice. TOCSIN_INVARIANT_RUNS sets how many runs the test
// makes; more runs than usual are longer ones.
func TestInvariants(t *testing.T) {
	t.Parallel()
	const usual = 1
	runs, steps := apitest.Setting(t, "TOCSIN_INVARIANT_RUNS", usual), 250
	if runs > usual {
		steps = 1000
	}
	for seed := range uint64(runs) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			holds(t, begin(t, varied...), seed, steps, func() {})
		})
	}
}

// The same holds with two programs on one database, which do the background work at the same time and take events of
// the same alerts from many connections.
func TestInvariantsOfTwoPrograms(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_INVARIANT_RUNS", 1)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := begin(t, varied...)
			other := w.join()
			r := rand.New(rand.NewPCG(seed, 12))
			holds(t, w, seed, 100, func() {
				var all sync.WaitGroup
				for range r.IntN(12) {
					to := []*httptest.Server{w.http, other}[r.IntN(2)]
					body := fmt.Sprintf(`{"title_rule": "T", "event_status": %q, "alert_key": "k%d", "labels": {"service": "s%d", "env": "prod"}}`,
						[]string{"Critical", "Warning", "Ok"}[r.IntN(3)], r.IntN(4), r.IntN(2))
					path := to.URL + "/event/push/alert/standard?integration_key=" + []string{shopKey, groupKey}[r.IntN(2)]
					all.Go(func() {
						answer, err := http.Post(path, "application/json", strings.NewReader(body))
						if err != nil {
							t.Error(err)
							return
						}
						answer.Body.Close()
						if answer.StatusCode != http.StatusOK {
							t.Errorf("an event was answered with %d", answer.StatusCode)
						}
					})
				}
				all.Wait()
			})
			const fewer = `SELECT count(*) FROM incident i WHERE alert_cnt < (
				SELECT count(*) FROM alert a WHERE a.account_id = i.account_id AND a.incident_id = i.incident_id AND a.deleted_at = 0)`
			if n := w.count(fewer); n > 0 {
				t.Errorf("%d incidents count fewer alerts than they have", n)
			}
		})
	}
}

// varied is a configuration in which much can happen.
var varied = []string{
	escalates(layer(onCall(day), again(2, 3), window(10))+","+layer(onCall(night), window(5), `"on_nobody": {"then": "wait"}`)+","+layer(teams(ops)),
		`"aggr_window": 20`, `"repeat": {"times": 2, "interval": 5}`),
	grouped(byService + `, "time_window": 30, "storm_thresholds": [3]`),
	rules("inhibit_rules", inhibit),
}

// holds does random things, one after the other and each after what before does, and checks after each what must hold.
func holds(t *testing.T, w *world, seed uint64, steps int, before func()) {
	r := rand.New(rand.NewPCG(seed, 11))
	sent := map[string]int{}
	var recent []page // since the clock was last set back
	for step := range steps {
		before()
		what := w.chance(r)
		if err := w.trySettle(); err != nil {
			t.Fatalf("seed %d, step %d, %s: %v", seed, step, what, err)
		}
		if what == "the clock was set back" {
			recent = nil
		}
		came := w.newPages()
		recent = append(recent, came...)
		for method, n := range inMinute(recent[max(0, len(recent)-60):]) {
			if limit := map[string]int{"voice": 5, "sms": 5, "ntfy": 5}[method]; method != "webhook" && n > max(limit, 10) || limit > 0 && n > limit {
				t.Errorf("seed %d, step %d, after %s: %d messages over %s in a minute", seed, step, what, n, method)
			}
		}
		for _, p := range came {
			if sent[p.key]++; sent[p.key] > 1 {
				t.Errorf("seed %d, step %d: %s was told twice (%s)", seed, step, p, p.key)
			}
		}
		for name, query := range invariants {
			if name == pageWaits && w.peer != nil {
				query += ` AND n.attempts = 0`
			}
			if n := w.count(query); n > 0 {
				t.Fatalf("seed %d, step %d, after %s: %s (%d)", seed, step, what, name, n)
			}
		}
		for name, query := range overdueQueries {
			if n := w.count(query, w.clock.Now().UnixMilli()); n > 0 {
				t.Fatalf("seed %d, step %d, after %s: %d times a %s is overdue", seed, step, what, n, name)
			}
		}
	}
	if len(sent) < 20 {
		t.Errorf("only %d notices: the run is too quiet", len(sent))
	}
}

// moody answers differently at each attempt, in whichever order they come and whatever ids they have.
func moody(seed uint64) func(page) answer {
	return func(p page) answer {
		sum := sha256.Sum256([]byte(p.String()))
		r := rand.New(rand.NewPCG(seed^binary.BigEndian.Uint64(sum[:]), uint64(p.at.UnixMilli())))
		return []answer{taken, taken, taken, taken, taken, taken, taken, taken, later, later, later, never}[r.IntN(12)]
	}
}

// chance does one random thing.
func (w *world) chance(r *rand.Rand) string {
	service, env := fmt.Sprint("service=s", r.IntN(3)), []string{"env=prod", "env=test"}[r.IntN(2)]
	key, cluster := fmt.Sprint("k", r.IntN(8)), fmt.Sprint("cluster=c", r.IntN(2))
	switch n := r.IntN(100); {
	case n < 45:
		status := []string{"Critical", "Critical", "Warning", "Info", "Ok", "Ok"}[r.IntN(6)]
		to := []string{shopKey, groupKey, shopKey, groupKey, shopKey, groupKey, sharedKey}[r.IntN(7)]
		w.pushTo(to, key, status, service, env, cluster, fmt.Sprint("title=T", r.IntN(3)))
		return "an event " + status
	case n < 70:
		d := []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, 2 * time.Hour}[r.IntN(5)]
		w.clock.Add(d)
		return fmt.Sprint("time passed: ", d)
	case n < 72:
		w.clock.Add(-time.Duration(r.IntN(120)) * time.Second)
		return "the clock was set back"
	case n < 76:
		w.restart()
		return "a restart"
	case n < 80:
		w.acceptAll()
		if r.IntN(2) == 0 {
			w.answers(moody(r.Uint64()))
		}
		return "receivers changed"
	case n < 86:
		now := w.clock.Now().Unix()
		w.try(ownKey, "/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "s", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]], "time_filter": {"start_time": %d, "end_time": %d}}`, shop, now, now+int64(60+r.IntN(3600)))
		return "a silence"
	case n < 88:
		rules := w.try(ownKey, "/channel/silence/rule/list", `{"channel_id": %d}`, shop)
		if rule := rules.get("items.0.rule_id"); rule != "" {
			w.try(ownKey, "/channel/silence/rule/delete", `{"channel_id": %d, "rule_id": %q}`, shop, rule)
		}
		return "a silence taken away"
	case n < 90:
		now := w.clock.Now().Unix()
		list := w.try(ownKey, "/incident/list", `{"start_time": %d, "end_time": %d}`, now-30*86400, now+86400)
		severity := []string{"Critical", "Warning", "Info"}[r.IntN(3)]
		w.try(ownKey, "/incident/reset", `{"incident_id": %q, "incident_severity": %q}`, list.get(fmt.Sprintf("items.%d.incident_id", r.IntN(5))), severity)
		return "the severity " + severity
	default:
		verb := []string{"ack", "unack", "resolve", "reopen", "wake", "disable-merge"}[r.IntN(6)]
		now := w.clock.Now().Unix()
		list := w.try(ownKey, "/incident/list", `{"start_time": %d, "end_time": %d}`, now-30*86400, now+86400)
		incident := list.get(fmt.Sprintf("items.%d.incident_id", r.IntN(5)))
		if incident == "" {
			return "nothing"
		}
		if r.IntN(4) == 0 {
			w.try(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": %d}`, incident, 1+r.IntN(60))
			return "a snooze"
		}
		w.try(annKey, "/incident/"+verb, `{"incident_ids": [%q]}`, incident) // what its state forbids is refused
		return verb
	}
}
