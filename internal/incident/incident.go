package incident

import (
	"cmp"
	"strings"

	"tocsin/internal/check"
	"tocsin/internal/db"
)

// Incident is what people work on, as in the account file's incidents.
type Incident struct {
	AccountID   int64        `json:"account_id,omitzero" doc:"Owning account."`
	IncidentID  string       `json:"incident_id" doc:"24 hexadecimal digits."`
	Title       string       `json:"title" doc:"What people read first."`
	ChannelID   int64        `json:"channel_id" doc:"The channel it belongs to; 0: none."`
	Progress    string       `json:"progress" enum:"Triggered,Processing,Closed" doc:"How far people have come with it."`
	Assignments []Assignment `json:"assignments" doc:"Who has been responsible, in the order in which it was noted down."`
}

// Assignment is a time in which a person was responsible for an incident. A person may have several.
type Assignment struct {
	PersonID   int64 `json:"person_id" doc:"Who."`
	AssignedAt int64 `json:"assigned_at" doc:"Unix seconds."`
	RemovedAt  int64 `json:"removed_at,omitzero" doc:"Unix seconds; 0: still responsible."`
}

const columns = `incident_id, title, channel_id, progress`

func scanIncident(scan db.Scan) (r Incident, err error) {
	err = scan(&r.IncidentID, &r.Title, &r.ChannelID, &r.Progress)
	return r, err
}

// Load checks the records of an account file's incidents and inserts them. A record without a progress
// is Triggered. A channel or person that is not there is accepted: incidents outlive both. Errors are
// fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Incident) error {
	for i, r := range records {
		at := check.Record("incidents", i)
		r.IncidentID, r.Progress = strings.ToLower(r.IncidentID), cmp.Or(r.Progress, "Triggered")
		if err := r.check(at, account); err != nil {
			return err
		}
		n, err := tx.Exec(`INSERT INTO incident (account_id, `+columns+`) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			account, r.IncidentID, r.Title, r.ChannelID, r.Progress)
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("incident_id", r.IncidentID)
		}
		for position, a := range r.Assignments {
			if _, err := tx.Exec(`INSERT INTO incident_assignment (account_id, incident_id, position, person_id, assigned_at, removed_at) VALUES ($1, $2, $3, $4, $5, $6)`,
				account, r.IncidentID, position, a.PersonID, a.AssignedAt, a.RemovedAt); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r Incident) check(at check.At, account int64) error {
	if err := check.First(
		at.Account(r.AccountID, account),
		at.Object("incident_id", r.IncidentID),
		at.AtLeast("channel_id", r.ChannelID, 0),
		at.OneOf("progress", r.Progress, "Triggered", "Processing", "Closed"),
	); err != nil {
		return err
	}
	for i, a := range r.Assignments {
		at := at.Element("assignments", i)
		if err := check.First(at.AtLeast("person_id", a.PersonID, 1), at.AtLeast("assigned_at", a.AssignedAt, 0)); err != nil {
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
	for i := range all {
		if err != nil {
			break
		}
		all[i].Assignments, err = db.All(tx, scanAssignment, `SELECT person_id, assigned_at, removed_at FROM incident_assignment WHERE account_id = $1 AND incident_id = $2 ORDER BY position`, account, all[i].IncidentID)
	}
	return all, err
}

func scanAssignment(scan db.Scan) (a Assignment, err error) {
	err = scan(&a.PersonID, &a.AssignedAt, &a.RemovedAt)
	return a, err
}
