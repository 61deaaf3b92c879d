package configstore

import (
	"fmt"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// The kinds of objects that refer or are referred to.
const (
	Person      = "person"
	Team        = "team"
	Role        = "role"
	Schedule    = "schedule"
	Override    = "schedule_override"
	Cover       = "cover_request"
	Absence     = "absence"
	Calendar    = "calendar"
	Template    = "template"
	Field       = "field"
	Channel     = "channel"
	Silence     = "silence_rule"
	Drop        = "drop_rule"
	Inhibit     = "inhibit_rule"
	Escalate    = "escalate_rule"
	Integration = "integration"
	Route       = "route"
	Pipeline    = "alert_pipeline"
	Enrichment  = "enrichment"
	Datasource  = "datasource"
	Application = "rum_application"
	Preference  = "preference"
	Fallback    = "fallback"
	StatusPage  = "status_page"
	RuleFolder  = "rule_folder"
	AlertRule   = "alert_rule"
	EdgeCluster = "edge_cluster"
)

// Target is an object that another one refers to.
type Target struct{ Kind, ID string }

// RefTo returns the target of a reference; an id is a number or a text.
func RefTo(kind string, id any) Target { return Target{kind, fmt.Sprint(id)} }

// RefFrom returns the object that refers to others.
func RefFrom(kind string, id any, name string) fault.Ref {
	return fault.Ref{Kind: kind, ID: fmt.Sprint(id), Name: name}
}

// SetReferences replaces the references of from. A target may occur several times; one without an id ("" or 0) is
// skipped.
func SetReferences(tx *db.Tx, account int64, from fault.Ref, targets ...Target) error {
	if err := ClearReferences(tx, account, from.Kind, from.ID); err != nil {
		return err
	}
	return AddReferences(tx, account, from, targets...)
}

// AddReferences is SetReferences for a new object, which has none yet.
func AddReferences(tx *db.Tx, account int64, from fault.Ref, targets ...Target) error {
	for _, to := range targets {
		if to.ID == "" || to.ID == "0" {
			continue
		}
		err := tx.Do(`INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`,
			account, to.Kind, to.ID, from.Kind, from.ID, from.Name)
		if err != nil {
			return err
		}
	}
	return nil
}

// ClearReferences deletes the references of an object that is deleted.
func ClearReferences(tx *db.Tx, account int64, kind string, id any) error {
	return tx.Do(`DELETE FROM reference WHERE account_id = $1 AND from_kind = $2 AND from_id = $3`, account, kind, fmt.Sprint(id))
}

// Targets returns the ids of one kind that an object refers to.
func Targets(tx *db.Tx, account int64, fromKind string, fromID any, toKind string) ([]string, error) {
	return db.All(tx, db.Column[string], `SELECT to_id FROM reference WHERE account_id = $1 AND from_kind = $2 AND from_id = $3
		AND to_kind = $4 ORDER BY to_id`,
		account, fromKind, fmt.Sprint(fromID), toKind)
}

// AllTargets returns the ids of one kind that the objects of another kind refer to, by the ids of these.
func AllTargets(tx *db.Tx, account int64, fromKind, toKind string) (map[string][]string, error) {
	all := map[string][]string{}
	_, err := db.All(tx, func(scan db.Scan) (struct{}, error) {
		var from, to string
		err := scan(&from, &to)
		all[from] = append(all[from], to)
		return struct{}{}, err
	}, `SELECT from_id, to_id FROM reference WHERE account_id = $1 AND to_kind = $2 AND from_kind = $3 ORDER BY to_id`,
		account, toKind, fromKind)
	return all, err
}

// Sources returns the ids of the objects of one kind that refer to an object.
func Sources(tx *db.Tx, account int64, toKind string, toID any, fromKind string) ([]string, error) {
	return db.All(tx, db.Column[string], `SELECT from_id FROM reference WHERE account_id = $1 AND to_kind = $2 AND to_id = $3
		AND from_kind = $4 ORDER BY from_id`,
		account, toKind, fmt.Sprint(toID), fromKind)
}

// listed is how many referring objects an error lists.
const listed = 100

// RefuseReferenced returns ReferenceExist with the objects that refer to this one; nil when there are none.
func RefuseReferenced(tx *db.Tx, account int64, kind string, id any) error {
	refs, err := References(tx, account, kind, id)
	if err != nil || len(refs) == 0 {
		return err
	}
	return Refused(fault.Ref{Kind: kind, ID: fmt.Sprint(id)}, refs)
}

// Refused returns ReferenceExist for an object, by kind and id, that at least one other object refers to.
func Refused(object fault.Ref, refs []fault.Ref) error {
	says := used(object, refs)
	return &fault.Error{Kind: fault.ReferenceExist, Message: says.String(), Text: says, Object: object, Refs: refs}
}

// References returns the objects that refer to this one by kind and id, the first hundred.
func References(tx *db.Tx, account int64, kind string, id any) ([]fault.Ref, error) {
	return db.All(tx, func(scan db.Scan) (r fault.Ref, err error) { return r, scan(&r.Kind, &r.ID, &r.Name) },
		`SELECT from_kind, from_id, from_name FROM reference WHERE account_id = $1 AND to_kind = $2 AND to_id = $3 ORDER BY from_kind, from_id
			LIMIT $4 + 0`,
		account, kind, fmt.Sprint(id), listed)
}

func used(object fault.Ref, refs []fault.Ref) fault.Clause {
	args := []any{fault.Word(object.Kind), object.ID, fault.Word(refs[0].Kind), refs[0].ID, refs[0].Name}
	switch n := len(refs) - 1; {
	case n == 0:
		return fault.NewClause("%s %s is used by %s %s (%s)", args...)
	case len(refs) == listed:
		return fault.NewClause("%s %s is used by %s %s (%s) and at least %d more", append(args, n)...)
	default:
		return fault.NewClause("%s %s is used by %s %s (%s) and %d more", append(args, n)...)
	}
}
