package nodes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/platform/db"
)

// Report is what became of a load.
type Report struct {
	Sent, Acknowledged, Retried int64 // events; of retried: requests
	Stored, Decided             int64 // events: more than acknowledged, where a request was tried again
	Unsure                      int   // alerts with such events
	Notified, Delivered         int64 // notifications and messages of webhooks that were sent
	TwiceNotified               int   // messages that a receiver took again
	TwiceDelivered              int
	Most                        int // how often the same message was taken at most
	Lost                        int64
	Problems                    []string // what must not be
}

func (r Report) String() string {
	return fmt.Sprintf("%d events sent, %d acknowledged (%d requests tried again, %d alerts unsure), %d stored, %d decided; "+
		"%d notifications, %d twice; %d webhook messages, %d twice (at most %d times); %d lost",
		r.Sent, r.Acknowledged, r.Retried, r.Unsure, r.Stored, r.Decided,
		r.Notified, r.TwiceNotified, r.Delivered, r.TwiceDelivered, r.Most, r.Lost)
}

// add adds what became of another load.
func (r *Report) add(o Report) {
	for _, n := range []struct {
		sum *int64
		of  int64
	}{
		{&r.Sent, o.Sent}, {&r.Acknowledged, o.Acknowledged}, {&r.Retried, o.Retried}, {&r.Stored, o.Stored}, {&r.Decided, o.Decided},
		{&r.Notified, o.Notified}, {&r.Delivered, o.Delivered}, {&r.Lost, o.Lost},
	} {
		*n.sum += n.of
	}
	r.Unsure += o.Unsure
	r.TwiceNotified += o.TwiceNotified
	r.TwiceDelivered += o.TwiceDelivered
	r.Most = max(r.Most, o.Most)
	r.Problems = append(r.Problems, o.Problems...)
}

// wrong are what must not be once all that was due is done: a query that counts what breaks each.
var wrong = map[string]string{
	"a row belongs to no account": `SELECT count(*) FROM (SELECT account_id FROM event UNION SELECT account_id FROM event_waiting
		UNION SELECT account_id FROM verdict UNION SELECT account_id FROM feed UNION SELECT account_id FROM webhook_delivery
		UNION SELECT account_id FROM webhook_exchange) AS x WHERE account_id NOT IN (SELECT account_id FROM account)`,
	"an event has no verdict": `SELECT count(*)` + undecided,
	"an event has two verdicts": `SELECT count(*) FROM (SELECT 1 FROM verdict
		WHERE event_id <> '' GROUP BY event_id HAVING count(*) > 1) AS x`,
	"a verdict has no event": `SELECT count(*) FROM verdict v
		WHERE NOT EXISTS (SELECT 1 FROM event e WHERE e.account_id = v.account_id AND e.event_id = v.event_id)`,
	"a verdict is of an unexpected kind": `SELECT count(*) FROM verdict
		WHERE outcome NOT IN ('opened', 'grouped', 'repeated', 'recovered', 'unmatched')`,
	"two alerts of a key are active": `SELECT count(*) FROM (SELECT 1 FROM alert
		WHERE end_time = 0 GROUP BY channel_id, alert_key HAVING count(*) > 1) AS x`,
	"an active alert is in no incident": `SELECT count(*) FROM alert WHERE end_time = 0 AND incident_id = ''`,
	"an active alert's incident is closed": `SELECT count(*) FROM alert a JOIN incident i ON i.incident_id = a.incident_id
		WHERE a.end_time = 0 AND i.progress = 'Closed'`,
	"an open incident has no active alert": `SELECT count(*) FROM incident i WHERE i.progress <> 'Closed'
		AND NOT EXISTS (SELECT 1 FROM alert a WHERE a.incident_id = i.incident_id AND a.end_time = 0)`,
	"an incident has a wrong number of alerts": `SELECT count(*) FROM incident i LEFT JOIN
		(SELECT incident_id, count(*) AS n FROM alert GROUP BY incident_id) a ON a.incident_id = i.incident_id
		WHERE i.alert_cnt <> coalesce(a.n, 0)`,
	"an alert has a wrong number of events": `SELECT count(*) FROM alert a LEFT JOIN
		(SELECT alert_id, count(*) AS n FROM verdict WHERE outcome <> 'repeated' GROUP BY alert_id) v ON v.alert_id = a.alert_id
		WHERE a.event_cnt <> coalesce(v.n, 0)`,
	"a feed has a hole": `SELECT count(*) FROM (SELECT 1 FROM feed GROUP BY ref_id HAVING max(feed_id) <> count(*)) AS x`,
	"two escalations of an incident go on": `SELECT count(*) FROM (SELECT 1 FROM escalation
		WHERE next_at > 0 GROUP BY incident_id HAVING count(*) > 1) AS x`,
	"an escalation of a closed incident goes on": `SELECT count(*) FROM escalation e JOIN incident i ON i.incident_id = e.incident_id
		WHERE i.progress = 'Closed' AND e.next_at > 0`,
	"an escalation goes wrong": `SELECT count(*) FROM escalation WHERE ended = 'failing'`,
	"no person was notified of an alert": `SELECT count(*) FROM incident i WHERE i.progress = 'Triggered'
		AND NOT EXISTS (SELECT 1 FROM notice n WHERE n.incident_id = i.incident_id AND n.status = 'sent')`,
	"a webhook message was not delivered": `SELECT count(*) FROM webhook_message WHERE status <> 'delivered'`,
	"a new alert is no webhook message": `SELECT count(*) FROM alert x LEFT JOIN
		(SELECT ref_id, count(*) AS n FROM webhook_message WHERE event_type = 'a_new' GROUP BY ref_id) m ON m.ref_id = x.alert_id
		WHERE coalesce(m.n, 0) <> 1`,
	"an alert's end is no webhook message": `SELECT count(*) FROM alert x LEFT JOIN
		(SELECT ref_id, count(*) AS n FROM webhook_message WHERE event_type = 'a_close' GROUP BY ref_id) m ON m.ref_id = x.alert_id
		WHERE coalesce(m.n, 0) <> 1 AND x.end_time > 0`,
	"a new incident is no webhook message": `SELECT count(*) FROM incident x LEFT JOIN
		(SELECT ref_id, count(*) AS n FROM webhook_message WHERE event_type = 'i_new' GROUP BY ref_id) m ON m.ref_id = x.incident_id
		WHERE coalesce(m.n, 0) <> 1`,
}

// Check compares the database and the receivers with what the load has sent. All that was due must be done.
func (c *Cluster) Check(l *Load) (r Report, err error) {
	r = Report{Sent: l.Sent.Load(), Acknowledged: l.Acknowledged(), Retried: l.Retried.Load(), Problems: l.problems}
	r.Lost = r.Sent - r.Acknowledged
	for name, query := range wrong {
		n, err := c.count(query)
		if err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		if n > 0 {
			r.problem("%s (%d)", name, n)
		}
	}
	for query, n := range map[string]*int64{
		`SELECT count(*) FROM event`:                                        &r.Stored,
		`SELECT count(DISTINCT event_id) FROM verdict WHERE event_id <> ''`: &r.Decided,
		`SELECT count(*) FROM notice WHERE status = 'sent'`:                 &r.Notified,
		`SELECT count(*) FROM webhook_message WHERE status = 'delivered'`:   &r.Delivered,
	} {
		*n, err = c.count(query)
		if err != nil {
			return r, err
		}
	}
	if err := c.checkEnds(&r); err != nil {
		return r, err
	}
	if err := c.checkSeries(l, &r); err != nil {
		return r, err
	}
	return r, c.checkReceivers(&r)
}

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < 40 {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// checkEnds checks that each notification was sent, or was cancelled because it was not needed any more. A person without
// a method that works has one over the method none.
func (c *Cluster) checkEnds(r *Report) error {
	bad, err := c.pairs(`SELECT notice_key, status || ' ' || way || ', because of ' || cause || ': ' || outcome
		FROM notice WHERE settled_at = 0 OR status NOT IN ('sent', 'cancelled') AND way <> 'none'`)
	for key, how := range bad {
		r.problem("notification %s came to no end: %s", key, how)
	}
	return err
}

// checkSeries checks that each event of an alert became what it must in the order in which it was sent: a recovery that
// was decided before its alert would leave it open.
func (c *Cluster) checkSeries(l *Load, r *Report) error {
	outcomes, err := c.pairs(`SELECT event_id, outcome FROM verdict WHERE event_id <> ''`)
	if err != nil {
		return err
	}
	open, err := c.pairs(`SELECT alert_key, alert_id FROM alert WHERE end_time = 0`)
	if err != nil {
		return err
	}
	for _, s := range l.series {
		if s.unsure {
			r.Unsure++
		}
		var path []string
		good := true
		for _, e := range s.events {
			outcome, found := outcomes[e.id]
			if !found {
				r.Lost++
				outcome = "LOST"
			}
			path = append(path, e.status+" "+outcome)
			good = good && found && (s.unsure || (e.status == "Ok") == (outcome == "recovered") && outcome != "unmatched")
		}
		if !good {
			r.problem("the events of %s were decided as %s", s.key, strings.Join(path, ", "))
		}
		if (open[s.key] != "") != (s.open != "") {
			r.problem("%s is open: %v, its last event was %q", s.key, open[s.key] != "", s.open)
		}
	}
	return nil
}

// checkReceivers checks that what the database has as sent has arrived, and counts what arrived twice.
func (c *Cluster) checkReceivers(r *Report) error {
	sent, err := c.pairs(`SELECT notice_id, CASE WHEN bundle = '' THEN notice_key ELSE bundle END FROM notice WHERE status = 'sent'`)
	if err != nil {
		return err
	}
	delivered, err := c.pairs(`SELECT message_id, message_id FROM webhook_message WHERE status = 'delivered'`)
	if err != nil {
		return err
	}
	messages, webhooks := c.Receivers.took()
	for _, of := range []struct {
		keys map[string]string
		took func(string) int
	}{{sent, messages}, {delivered, webhooks}} {
		for id, key := range of.keys {
			if of.took(key) == 0 {
				r.Lost++
				r.problem("%s (%s) is stored as sent and did not arrive", id, key)
			}
		}
	}
	c.Receivers.mu.Lock()
	defer c.Receivers.mu.Unlock()
	var most int
	r.TwiceNotified, r.Most = twice(c.Receivers.messages)
	r.TwiceDelivered, most = twice(c.Receivers.webhooks)
	r.Most = max(r.Most, most)
	return nil
}

// pairs reads two columns.
func (c *Cluster) pairs(query string) (all map[string]string, err error) {
	all = map[string]string{}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = c.db.Read(ctx, func(tx *db.Tx) error {
		_, err := db.All(tx, func(scan db.Scan) (x struct{}, err error) {
			var a, b string
			err = scan(&a, &b)
			all[a] = b
			return x, err
		}, query)
		return err
	})
	return all, err
}
