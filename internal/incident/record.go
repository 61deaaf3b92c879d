package incident

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/configstore"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Incident is what people work on, as it is stored and as in the account file's incidents.
type Incident struct {
	AccountID   int64        `json:"account_id,omitzero" doc:"Owning account."`
	IncidentID  string       `json:"incident_id" maxLength:"24" doc:"24 hexadecimal digits."`
	Title       string       `json:"title" maxLength:"512" doc:"What people read first."`
	ChannelID   int64        `json:"channel_id" doc:"The channel it belongs to; 0: none."`
	Progress    string       `json:"progress" enum:"Triggered,Processing,Closed" doc:"How far people have come with it."`
	Assignments []Assignment `json:"assignments" maxItems:"100000" doc:"Who has been responsible, in the order in which it was recorded."`

	Severity      string `json:"incident_severity,omitzero" maxLength:"16" doc:"Critical, Warning or Info: the highest of its alerts, unless a person set it."`
	StartTime     int64  `json:"start_time,omitzero" doc:"Unix seconds, as all times."`
	LastTime      int64  `json:"last_time,omitzero" doc:"When its latest alert joined."`
	SnoozedBefore int64  `json:"snoozed_before,omitzero" doc:"No notification is sent until then; 0: it is not snoozed."`
	ResolveAt     int64  `json:"resolve_at,omitzero" doc:"When it is resolved automatically; 0: never."`
	CreatorID     int64  `json:"creator_id,omitzero" doc:"0: Tocsin itself."`
	CloserID      int64  `json:"closer_id,omitzero" doc:"0: Tocsin itself."`
	EverMuted     bool   `json:"ever_muted,omitzero" doc:"One of its alerts was muted at some time."`
	GroupKey      string `json:"group_key,omitzero" maxLength:"65536" doc:"What its alerts have in common; empty: no alert joins it automatically."`
	AlertCnt      int64  `json:"alert_cnt,omitzero" doc:"How many alerts were merged into it."`
	Detail
}

// Detail is the part of an incident that no query searches; it is stored as JSON.
type Detail struct {
	Description      string                    `json:"description,omitzero" maxLength:"6144" doc:"What it is about."`
	Impact           string                    `json:"impact,omitzero" maxLength:"6144" doc:"Whom it hurts."`
	RootCause        string                    `json:"root_cause,omitzero" maxLength:"6144" doc:"Why it happened."`
	Resolution       string                    `json:"resolution,omitzero" maxLength:"6144" doc:"What helped."`
	GroupMethod      string                    `json:"group_method,omitzero" maxLength:"16" doc:"n or p."`
	DedupKey         string                    `json:"dedup_key,omitzero" maxLength:"1024" doc:"The key of its first alert."`
	IntegrationIDs   []int64                   `json:"integration_ids,omitzero" maxItems:"10000" doc:"Where its alerts came from."`
	IntegrationTypes []string                  `json:"integration_types,omitzero" maxItems:"10000" maxLength:"255" doc:"Their types."`
	AckTime          int64                     `json:"ack_time,omitzero" doc:"When it was first acknowledged."`
	CloseTime        int64                     `json:"close_time,omitzero" doc:"When it was closed."`
	ReopenedAt       int64                     `json:"reopened_at,omitzero" doc:"When it was last opened again."`
	OwnerID          int64                     `json:"owner_id,omitzero" doc:"Who leads."`
	CreatedAt        int64                     `json:"created_at,omitzero" doc:"Unix seconds."`
	UpdatedAt        int64                     `json:"updated_at,omitzero" doc:"Unix seconds."`
	Labels           map[string]string         `json:"labels,omitzero" maxProperties:"1000" maxLength:"6144" doc:"Of its first alert."`
	Images           []event.Image             `json:"images,omitzero" maxItems:"1000" doc:"Of its first alert."`
	Fields           map[string]jsontext.Value `json:"fields,omitzero" maxProperties:"1000" doc:"Values of custom fields by name."`
	AssignedTo       *AssignedTo               `json:"assigned_to,omitzero" doc:"The latest assignment."`
	ManualOverrides  []string                  `json:"manual_overrides,omitzero" maxItems:"1000" maxLength:"255" doc:"Members that a person set."`
	MergedInto       string                    `json:"merged_into,omitzero" maxLength:"24" doc:"The incident it was merged into."`
	Test             bool                      `json:"is_test,omitzero" doc:"A drill: nothing is wrong."`
	Storms           []int64                   `json:"storms,omitzero" maxItems:"100" doc:"Storm thresholds it has reached."`
	Snoozes          []Snooze                  `json:"snoozes,omitzero" maxItems:"100000" doc:"The times for which it was snoozed."`
	SourceTitle      bool                      `json:"source_title,omitzero" doc:"The title is the source's name of a group of alerts."`
	RoseAt           int64                     `json:"rose_at,omitzero" doc:"When its severity last rose."`
	Flapping         *Flapping                 `json:"flapping,omitzero" doc:"One of its alerts changes too often; absent: none does."`
	JoinedUntil      int64                     `json:"joined_until,omitzero" doc:"Alerts that join by then, since it was acknowledged, are one message to its responders."`
}

// Snooze is a period without notifications.
type Snooze struct {
	From  int64 `json:"from" doc:"Unix seconds."`
	Until int64 `json:"until" doc:"Unix seconds; the moment of waking when a person did."`

	PersonID int64 `json:"person_id,omitzero" doc:"Who snoozed it."`
}

// AssignedTo names who is responsible for an incident: persons, or an escalation rule.
type AssignedTo struct {
	PersonIDs        []int64  `json:"person_ids,omitzero" maxItems:"100" doc:"Persons."`
	EscalateRuleID   string   `json:"escalate_rule_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Or an escalation rule of the incident's channel."`
	EscalateRuleName string   `json:"escalate_rule_name,omitzero" maxLength:"255" doc:"Its name, filled in by the server."`
	LayerIdx         int64    `json:"layer_idx,omitzero" minimum:"0" maximum:"100" doc:"The layer of the rule to begin with, or that it has come to."`
	Type             string   `json:"type,omitzero" enum:"assign,reassign,escalate,reopen" doc:"How it came about, filled in by the server."`
	Emails           []string `json:"emails,omitzero" maxItems:"100" maxLength:"255" doc:"Further e-mail addresses."`
	AssignedAt       int64    `json:"assigned_at,omitzero" doc:"Unix seconds, filled in by the server."`
	ID               string   `json:"id,omitzero" maxLength:"255" doc:"Of the assignment, filled in by the server."`
}

// Assignment is a period in which a person was responsible for an incident. A person may have several.
type Assignment struct {
	PersonID       int64 `json:"person_id" doc:"Who."`
	AssignedAt     int64 `json:"assigned_at" doc:"Unix seconds."`
	RemovedAt      int64 `json:"removed_at,omitzero" doc:"Unix seconds; 0: still responsible."`
	AcknowledgedAt int64 `json:"acknowledged_at,omitzero" doc:"Unix seconds; 0: not acknowledged."`
}

const columns = `incident_id, title, channel_id, progress, severity, start_time, last_time, snoozed_before, resolve_at, creator_id,
	closer_id, ever_muted, group_key, alert_cnt, body`

// scanIncident reads a row of the columns above; the assignments are read apart.
func scanIncident(scan db.Scan) (r Incident, err error) {
	var body string
	err = scan(&r.IncidentID, &r.Title, &r.ChannelID, &r.Progress, &r.Severity, &r.StartTime, &r.LastTime, &r.SnoozedBefore, &r.ResolveAt,
		&r.CreatorID, &r.CloserID, &r.EverMuted, &r.GroupKey, &r.AlertCnt, &body)
	if err != nil {
		return r, err
	}
	return r, r.parse(body)
}

// parse reads the details from their JSON.
func (r *Incident) parse(body string) error {
	return fault.Wrap(json.Unmarshal([]byte(body), &r.Detail), "incident %s", r.IncidentID)
}

const storedColumns = `account_id, ` + columns + `, search_folded, closed_at, is_test`

const insert = `INSERT INTO incident (` + storedColumns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
	ON CONFLICT DO NOTHING`

var storing = db.Columns(storedColumns)

// row returns the row of an incident.
func (r *Incident) row(account int64) (db.Rows, error) {
	values, err := r.values(account)
	return db.Rows{Table: "incident", Columns: storing, Values: [][]any{values}}, err
}

// values returns the values of the stored columns.
func (r *Incident) values(account int64) ([]any, error) {
	body, err := json.Marshal(r.Detail, json.Deterministic(true))
	return []any{
		account, r.IncidentID, r.Title, r.ChannelID, r.Progress, r.Severity, r.StartTime, r.LastTime, r.SnoozedBefore, r.ResolveAt, r.CreatorID,
		r.CloserID, r.EverMuted, r.GroupKey, r.AlertCnt, string(body), r.searchText(), r.closedAt(), r.Test,
	}, err
}

// insert stores a new incident without its assignments; fresh is false when its id is taken.
func (r *Incident) insert(tx *db.Tx, account int64) (fresh bool, err error) {
	values, err := r.values(account)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(insert, values...)
	return n > 0, err
}

// closedAt returns when the incident was closed, in Unix seconds. For an incident from an account file without that time
// it is the nearest known time; 0: the incident is open, or no time is known.
func (r *Incident) closedAt() int64 {
	if r.Progress != Closed {
		return 0
	}
	return cmp.Or(r.CloseTime, r.LastTime, r.StartTime)
}

// save updates the stored incident without its assignments.
func (r *Incident) save(tx *db.Tx, account int64) error {
	row, err := r.row(account)
	if err != nil {
		return err
	}
	return tx.Update(2, row)
}

// assign stores a further assignment.
func (r *Incident) assign(tx *db.Tx, account int64, a Assignment) error {
	r.Assignments = append(r.Assignments, a)
	return tx.Do(`INSERT INTO incident_assignment (account_id, incident_id, position, person_id, assigned_at, removed_at, acknowledged_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		account, r.IncidentID, len(r.Assignments)-1, a.PersonID, a.AssignedAt, a.RemovedAt, a.AcknowledgedAt)
}

// Find reads an incident with its assignments; found is false when the account has none of this id.
func Find(tx *db.Tx, account int64, id string) (r Incident, found bool, err error) {
	r, found, err = db.One(tx, scanIncident, `SELECT `+columns+` FROM incident WHERE account_id = $1 AND incident_id = $2`, account, id)
	if err != nil || !found {
		return r, false, err
	}
	r.AccountID = account
	r.Assignments, err = assignments(tx, account, id)
	return r, true, err
}

// Of returns the incident that a domain event is about, without a read where the event carries it.
func Of(tx *db.Tx, item activity.Item) (Incident, bool, error) {
	if i, known := of(item); known {
		return i.Incident, true, nil
	}
	return Find(tx, item.Account, item.ID)
}

// withAlerts is an incident with the counts of its alerts, and their lead; nil: the alert that opened it.
type withAlerts struct {
	Incident
	alerts alert.Count
	lead   *alert.Lead
}

// of returns the incident that a domain event carries. Its alerts are counted if the event has that as its subject.
func of(item activity.Item) (i withAlerts, known bool) {
	switch subject := item.Subject.(type) {
	case Incident:
		return withAlerts{Incident: subject}, true
	case withAlerts:
		return subject, true
	}
	return i, false
}

func assignments(tx *db.Tx, account int64, id string) ([]Assignment, error) {
	return db.All(tx, scanAssignment, `SELECT person_id, assigned_at, removed_at, acknowledged_at FROM incident_assignment
		WHERE account_id = $1 AND incident_id = $2 ORDER BY position`, account, id)
}

// Load checks the incidents of an account file and inserts them. A record without a progress is Triggered. A channel or
// person that does not exist is accepted: incidents outlive both. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Incident) error {
	for i, r := range records {
		at := configstore.PathOf("incidents", i)
		r.IncidentID, r.Progress = strings.ToLower(r.IncidentID), cmp.Or(r.Progress, Triggered)
		if err := r.check(at, account); err != nil {
			return err
		}
		fresh, err := r.insert(tx, account)
		if err != nil {
			return err
		}
		if !fresh {
			return at.Twice("incident_id", r.IncidentID)
		}
		all := r.Assignments
		r.Assignments = nil
		for _, a := range all {
			if err := r.assign(tx, account, a); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r Incident) check(at configstore.RecordPath, account int64) error {
	if err := configstore.FirstError(
		at.Account(r.AccountID, account),
		at.Object("incident_id", r.IncidentID),
		at.AtLeast("channel_id", r.ChannelID, 0),
		at.OneOf("progress", r.Progress, Triggered, Processing, Closed),
		at.OneOf("incident_severity", r.Severity, "", event.Critical, event.Warning, event.Info),
		at.AtLeast("start_time", r.StartTime, 0),
		at.AtLeast("last_time", r.LastTime, 0),
		at.AtLeast("snoozed_before", r.SnoozedBefore, 0),
		at.AtLeast("resolve_at", r.ResolveAt, 0),
	); err != nil {
		return err
	}
	for i, a := range r.Assignments {
		at := at.Element("assignments", i)
		if err := configstore.FirstError(at.AtLeast("person_id", a.PersonID, 1), at.AtLeast("assigned_at", a.AssignedAt, 0)); err != nil {
			return err
		}
		if a.RemovedAt != 0 && a.RemovedAt < a.AssignedAt {
			return at.Invalid("removed_at", "must be 0 or at least assigned_at %d, got %d", a.AssignedAt, a.RemovedAt)
		}
	}
	return nil
}

// Dump reads all incidents of an account, by id.
func Dump(tx *db.Tx, account int64) ([]Incident, error) {
	all, err := db.All(tx, scanIncident, `SELECT `+columns+` FROM incident WHERE account_id = $1 ORDER BY incident_id`, account)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Assignments, err = assignments(tx, account, all[i].IncidentID)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func scanAssignment(scan db.Scan) (a Assignment, err error) {
	return a, scan(&a.PersonID, &a.AssignedAt, &a.RemovedAt, &a.AcknowledgedAt)
}

// The list is read first, and each incident by its primary key.
const joinableOf = `SELECT channel_id, group_key, incident_id, start_time, last_time, alert_cnt FROM json_each($2) AS slot
	CROSS JOIN incident WHERE account_id = $1 AND incident_id = (
		SELECT i.incident_id FROM incident i WHERE i.account_id = $1 AND i.channel_id = CAST(substr(slot.value, 1, 20) AS BIGINT)
			AND i.group_key = substr(slot.value, 21) AND i.group_key <> '' AND i.progress <> 'Closed'
		ORDER BY i.start_time DESC, i.incident_id DESC LIMIT 1)`

// JoinableOf is Joinable for many group keys.
func JoinableOf(tx *db.Tx, account int64, slots []alert.Slot) (groups map[alert.Slot]decide.Group, err error) {
	groups = map[alert.Slot]decide.Group{}
	_, err = db.All(tx, func(scan db.Scan) (s alert.Slot, err error) {
		var g decide.Group
		err = scan(&s.Channel, &s.Key, &g.Incident, &g.Started, &g.Last, &g.Alerts)
		groups[s] = g
		return s, err
	}, joinableOf, account, alert.Slots(slots))
	return groups, err
}

// Joinable returns the channel's newest open incident that alerts with this group key may join.
func Joinable(tx *db.Tx, account, channel int64, key string) (g decide.Group, found bool, err error) {
	return db.One(tx, func(scan db.Scan) (g decide.Group, err error) {
		return g, scan(&g.Incident, &g.Started, &g.Last, &g.Alerts)
	}, `SELECT incident_id, start_time, last_time, alert_cnt FROM incident WHERE account_id = $1 AND channel_id = $2 AND group_key = $3
		AND group_key <> '' AND progress <> 'Closed'
		ORDER BY start_time DESC, incident_id DESC LIMIT 1`, account, channel, key)
}
