package rum

import (
	"slices"
	"strings"

	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// mayRead is true for the applications a that the caller may read: a private one is for the account's owner ($2), its
// creator ($3) and the members of its team.
const mayRead = `($2 OR NOT a.is_private OR a.created_by = $3 OR ` + ofMyTeam + `)`

// ofMyTeam is true for the applications a of the teams that the caller ($3) is in.
const ofMyTeam = `EXISTS (SELECT 1 FROM team_person t WHERE t.account_id = a.account_id AND t.team_id = a.team_id AND t.person_id = $3)`

// mayReadIssue is true for the issues i whose application the caller may read. A deleted application stays private; one
// that is not known hides nothing.
const mayReadIssue = `NOT EXISTS (SELECT 1 FROM rum_application a
	WHERE a.account_id = i.account_id AND a.application_id = i.application_id AND NOT ` + mayRead + `)`

// permit returns AccessDenied if the application is private and the caller may not read it (docs/api.md, "Data permission").
// The same holds for its issues.
func permit(tx *db.Tx, who auth.Principal, application string) error {
	_, hidden, err := db.One(tx, db.Column[int64], `SELECT 1 FROM rum_application a
		WHERE a.account_id = $1 AND a.application_id = $4 AND NOT `+mayRead, who.AccountID, who.Owner, who.PersonID, application)
	if err == nil && hidden {
		err = fault.Denied("application %s is private and this key's person is not in its team", application)
	}
	return err
}

// hidden returns the ids of the private applications that the caller may not read.
func hidden(tx *db.Tx, who auth.Principal) ([]string, error) {
	if who.Owner {
		return nil, nil
	}
	return db.All(tx, db.Column[string], `SELECT a.application_id FROM rum_application a
		WHERE a.account_id = $1 AND a.is_private AND NOT `+mayRead+` ORDER BY a.application_id`, who.AccountID, who.Owner, who.PersonID)
}

// Private returns a function that reports whether the caller may not read what a write was about, which is known by its
// operation and the objects that it changed. A write that was refused changed none: if it is of applications or issues, it
// counts as being about a private one.
func Private(tx *db.Tx, who auth.Principal) (func(operation string, about []fault.Ref) (bool, error), error) {
	applications, err := hidden(tx, who)
	if err != nil {
		return nil, err
	}
	return func(operation string, about []fault.Ref) (bool, error) {
		if len(applications) == 0 {
			return false, nil
		}
		if len(about) == 0 {
			return strings.HasPrefix(operation, "application:") || strings.HasPrefix(operation, "issue:"), nil
		}
		for _, r := range about {
			id := r.ID
			if r.Kind == issueKind {
				issue, _, err := FindIssue(tx, who.AccountID, r.ID)
				if err != nil {
					return false, err
				}
				id = issue.ApplicationID
			}
			if (r.Kind == issueKind || r.Kind == configstore.Application) && slices.Contains(applications, id) {
				return true, nil
			}
		}
		return false, nil
	}, nil
}

// issueKind is the kind under which the audit log has issues.
const issueKind = "issue"

// Conceal removes the names of private applications that the caller may not read from the error ReferenceExist.
func Conceal(tx *db.Tx, who auth.Principal, err error) error {
	return configstore.Conceal(err, func(refs []fault.Ref) error {
		applications, err := hidden(tx, who)
		for i, r := range refs {
			if r.Kind == configstore.Application && slices.Contains(applications, r.ID) {
				refs[i].Name = configstore.Concealed
			}
		}
		return err
	})
}
