package escalation

import (
	"slices"

	"tocsin/internal/platform/db"
)

// Due steps of Critical incidents come first, because thousands of other steps may have become due before. Critical steps
// are at most half of a batch, so that many of them cannot keep the others waiting. An escalation waits at most two seconds
// for undecided events of the request that opened its incident.
const (
	criticalSteps = `SELECT ` + columns + ` FROM escalation WHERE account_id = $1 AND next_at > 0 AND severity = 'Critical' AND next_at <= $2
		AND (request <= 0 OR started_at <= $2 - 2) ORDER BY next_at LIMIT $3 + 0`

	oldestSteps = `SELECT ` + columns + ` FROM escalation WHERE account_id = $1 AND next_at > 0 AND next_at <= $2
		AND (request <= 0 OR started_at <= $2 - 2) ORDER BY next_at LIMIT $3 + 0`
)

// maxPartial is for how many seconds further events of a request are expected. The request's sender may have failed
// meanwhile.
const maxPartial = 600

// dueSteps returns the first n due escalations of an account.
func dueSteps(tx *db.Tx, account, now int64, n int) ([]prepared, error) {
	all, err := db.All(tx, scanDueStep, oldestSteps, account, now, n)
	if err != nil || len(all) < max(n, 2) {
		return all, err
	}
	critical, err := db.All(tx, scanDueStep, criticalSteps, account, now, n/2)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if len(critical) < n && !slices.ContainsFunc(critical, func(c prepared) bool { return c.key() == p.key() }) {
			critical = append(critical, p)
		}
	}
	return critical, nil
}

func scanDueStep(scan db.Scan) (prepared, error) {
	s, err := scanStored(scan)
	return prepared{
		account: s.account, incident: s.incident, number: s.number, started: s.started, due: s.next, severity: s.severity, first: s.text == "",
	}, err
}

// Gather marks new incidents as opened by a request with undecided events. wait: the escalations wait for these events.
func Gather(tx *db.Tx, account, request int64, wait bool, incidents []string) error {
	if !wait {
		request = -request
	}
	return tx.Do(`UPDATE escalation SET request = $2 WHERE account_id = $1
		AND incident_id IN (SELECT value FROM json_each($3)) AND next_at > 0`, account, request, db.JSON(incidents))
}

// Gathered removes the marks of requests whose events are all decided.
func Gathered(tx *db.Tx, account int64, requests []int64) error {
	if len(requests) == 0 {
		return nil
	}
	for _, request := range requests {
		requests = append(requests, -request)
	}
	return tx.Do(`UPDATE escalation SET request = 0 WHERE account_id = $1 AND request <> 0
		AND request IN (SELECT CAST(value AS BIGINT) FROM json_each($2))`, account, db.JSON(requests))
}

// Partial reports whether the request that opened an incident has undecided events at now (Unix seconds). The incident then
// has more alerts than are counted.
func Partial(tx *db.Tx, account int64, incident string, now int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM escalation
		WHERE account_id = $1 AND incident_id = $2 AND request <> 0 AND started_at > $3 LIMIT 1`, account, incident, now-maxPartial)
	return found, err
}
