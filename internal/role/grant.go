package role

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Within returns AccessDenied for permissions that the caller does not have. A caller who could grant them could get them.
func Within(who auth.Principal, names []string) error {
	set, err := auth.SetOf(names)
	if err != nil {
		return err
	}
	for _, name := range auth.Names(set) {
		if p, _ := auth.Parse(name); !who.May(p) {
			return fault.Denied("the role has the permission %q, which this key lacks and so cannot grant or revoke", name)
		}
	}
	return nil
}

// Grant grants a role to persons. The caller must have all permissions of the role.
func Grant(c *api.Call, role int64, persons []int64) error {
	r, err := get(c.Tx, c.Who.AccountID, role)
	if err != nil {
		return err
	}
	if err := Within(c.Who, r.Permissions); err != nil {
		return err
	}
	c.Touched(configstore.Role, role, r.RoleName)
	for _, person := range persons {
		known, err := auth.KnownPerson(c.Tx, c.Who.AccountID, person)
		if err != nil {
			return err
		}
		if !known {
			return fault.Missing("person", person)
		}
		c.Touched(configstore.Person, person, "")
		fresh, err := Give(c.Tx, c.Who.AccountID, person, role)
		if err != nil {
			return err
		}
		if fresh {
			c.Gained(person)
		}
	}
	return configstore.BumpRevision(c.Tx, c.Who.AccountID)
}

// Revoke revokes a role of persons. The caller must have all permissions of the role.
func Revoke(c *api.Call, role int64, persons []int64) error {
	r, err := get(c.Tx, c.Who.AccountID, role)
	if err != nil {
		return err
	}
	if err := Within(c.Who, r.Permissions); err != nil {
		return err
	}
	c.Touched(configstore.Role, role, r.RoleName)
	for _, person := range persons {
		c.Touched(configstore.Person, person, "")
		if err := c.Tx.Do(`DELETE FROM person_role WHERE account_id = $1 AND person_id = $2 AND role_id = $3`, c.Who.AccountID, person,
			role); err != nil {
			return err
		}
	}
	return configstore.BumpRevision(c.Tx, c.Who.AccountID)
}

// Replace grants and revokes roles so that a person has exactly these.
func Replace(c *api.Call, person int64, roles []int64) error {
	held, err := Of(c.Tx, c.Who.AccountID, person)
	if err != nil {
		return err
	}
	for _, role := range held {
		if !slices.Contains(roles, role) {
			if err := Revoke(c, role, []int64{person}); err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
	}
	for _, role := range roles {
		if !slices.Contains(held, role) {
			if err := Grant(c, role, []int64{person}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Of returns the roles of a person, in ascending order.
func Of(tx *db.Tx, account, person int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT role_id FROM person_role WHERE account_id = $1 AND person_id = $2 ORDER BY role_id`, account,
		person)
}
