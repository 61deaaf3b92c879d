package escalation

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// run is one escalation of an incident.
type run struct {
	account  int64
	incident string
	number   int64
	ruleID   string
	ruleName string
	text     string               // its rule as it is stored; empty: no rule is chosen yet
	rule     channel.EscalateRule // secrets sealed
	timing   timing
	started  int64
	done     int
	next     int64 // 0: ended
	ended    string
	severity string // the highest that its rule was chosen for: a higher one of the incident is a rise

	silenced   int64          // until when silence rules hold all of the incident's alerts, Unix seconds; 0: they do not
	silencedBy sentence.Value // which
}

// timing is the progress of a run.
type timing struct {
	escalationplan.Rule
	Still  []escalationplan.Span // when its clock was stopped: a layer waited for a shift, or silences held the incident
	Absent []int64               `json:",omitempty"` // persons whose every method refused a page of this run
	Held   int64                 // since when silences hold it, Unix seconds; 0: they do not
	Untold bool                  // no person was reached, so the incident is the fallback's

	Because sentence.Value `json:",omitempty"` // why the escalation began again, for its notifications; empty: the first one, or a person caused it
}

const columns = `account_id, incident_id, run, rule_id, rule_name, rule, timing, started_at, done, next_at, ended, severity`

var storing = db.Columns(columns)

// scanRun reads a row together with its rule.
func scanRun(scan db.Scan) (e run, err error) {
	s, err := scanStored(scan)
	if err != nil {
		return e, err
	}
	return s.read()
}

// stored is a row whose rule is not decoded yet. Decoding waits until the row is processed, so that one corrupt rule
// cannot block the others.
type stored struct {
	run
	timingText string
}

func scanStored(scan db.Scan) (s stored, err error) {
	return s, scan(&s.account, &s.incident, &s.number, &s.ruleID, &s.ruleName, &s.text, &s.timingText,
		&s.started, &s.done, &s.next, &s.ended, &s.severity)
}

// read decodes the rule and the progress of a row.
func (s *stored) read() (run, error) {
	if s.text == "" {
		return s.run, nil
	}
	if err := json.Unmarshal([]byte(s.text), &s.rule); err != nil {
		return s.run, err
	}
	return s.run, json.Unmarshal([]byte(s.timingText), &s.timing)
}

// save stores the rule and the progress of a run.
func (e *run) save(tx *db.Tx) error {
	timing, err := json.Marshal(e.timing)
	if err != nil {
		return err
	}
	return tx.Update(3, db.Rows{Table: "escalation", Columns: storing, Values: [][]any{{e.account, e.incident, e.number, e.ruleID, e.ruleName,
		e.text, string(timing), e.started, e.done, e.next, e.ended, e.severity}}})
}

// latest returns the last escalation of an incident; nil when there was none.
func latest(tx *db.Tx, account int64, incident string) (*run, error) {
	if known, ok := batchOf(tx).runs[incident]; ok {
		if len(known) == 0 {
			return nil, nil
		}
		e, err := known[len(known)-1].read()
		return &e, err
	}
	e, found, err := db.One(tx, scanRun,
		`SELECT `+columns+` FROM escalation WHERE account_id = $1 AND incident_id = $2 ORDER BY run DESC LIMIT 1`, account, incident)
	if err != nil || !found {
		return nil, err
	}
	return &e, nil
}

// begin escalates an incident by a rule, from one of its layers on. It replaces the escalation before it; nil: there was
// none.
func (r *Service) begin(tx *db.Tx, before *run, i *incident.Incident, rule channel.EscalateRule, layer int, now time.Time) error {
	return r.beginBecause(tx, before, i, rule, layer, "", now)
}

// beginBecause is begin with a reason for the notifications; see timing.Because.
func (r *Service) beginBecause(
	tx *db.Tx, before *run, i *incident.Incident, rule channel.EscalateRule, layer int, again sentence.Value, now time.Time,
) error {
	number, err := r.replace(tx, before, i)
	if err != nil {
		return err
	}
	if err := errors.Join(insert(tx, i, number, again, now), untold.Forget(tx, i.AccountID, i.IncidentID)); err != nil {
		return err
	}
	e := run{account: i.AccountID, incident: i.IncidentID, number: number, started: now.Unix(), severity: i.Severity}
	e.timing.Because = again
	if err := e.setRule(rule, layer); err != nil {
		return err
	}
	return e.save(tx)
}

// insert stores an escalation that starts now and has no rule yet. again is the reason for another start; see
// timing.Because.
func insert(tx *db.Tx, i *incident.Incident, number int64, again sentence.Value, now time.Time) error {
	delete(batchOf(tx).runs, i.IncidentID)
	begun := "{}"
	if again != "" {
		text, err := json.Marshal(timing{Because: again})
		if err != nil {
			return err
		}
		begun = string(text)
	}
	return tx.Insert(db.Rows{Table: "escalation", Columns: storing, Values: [][]any{
		{i.AccountID, i.IncidentID, number, "", "", "", begun, now.Unix(), 0, now.Unix(), "", i.Severity},
	}})
}

// replace ends the running escalation of an incident, if there is one, and returns the number of the next. As long as
// that one goes on, nothing else follows up an incident that is not acknowledged.
func (r *Service) replace(tx *db.Tx, before *run, i *incident.Incident) (number int64, err error) {
	if i.Progress == incident.Triggered {
		if err := forget(tx, i.AccountID, i.IncidentID); err != nil {
			return 0, err
		}
	}
	if before == nil {
		return 1, nil
	}
	if before.next > 0 {
		before.next, before.ended = 0, "replaced"
		err = before.save(tx)
	}
	return before.number + 1, err
}

// setRule sets the rule of an escalation, which starts at one of the layers. It does not store it.
func (e *run) setRule(rule channel.EscalateRule, layer int) error {
	e.timing = timing{Rule: rule.Timing(), Because: e.timing.Because}
	e.ruleID = rule.RuleID
	e.ruleName = rule.RuleName
	e.rule = rule
	e.done = 0
	if layer > 0 && layer < len(e.timing.Layers) { // the layers before it count as done
		e.timing.Wait = 0
		for n := range layer {
			e.done = e.timing.Skip(escalationplan.Step{Layer: n})
		}
	}
	text, err := json.Marshal(rule, json.Deterministic(true))
	if err != nil {
		return err
	}
	e.text, e.next = string(text), e.started+e.timing.Wait
	return nil
}

// state returns the state of the incident as the plan needs it, and when the clock was stopped.
func (e *run) state(i *incident.Incident) escalationplan.State {
	s := stateOf(i)
	s.Snoozes = append(s.Snoozes, e.timing.Still...)
	return s
}

// stateOf returns the state of the incident as the plan needs it. The latest acknowledgement counts.
func stateOf(i *incident.Incident) escalationplan.State {
	s := escalationplan.State{}
	if i.Progress == incident.Closed {
		s.Resolved = max(i.CloseTime, 1)
	}
	if i.Progress == incident.Processing {
		s.Acknowledged = max(i.AckTime, 1)
		for _, a := range i.Assignments {
			if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
				s.Acknowledged = max(s.Acknowledged, a.AcknowledgedAt)
			}
		}
	}
	for _, z := range i.Snoozes {
		s.Snoozes = append(s.Snoozes, escalationplan.Span{From: z.From, Until: z.Until})
	}
	return s
}
