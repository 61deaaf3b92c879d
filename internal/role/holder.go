package role

import "tocsin/internal/platform/db"

// Give grants a person a role without a check of permissions, for account files; fresh is false when the person has the
// role already.
func Give(tx *db.Tx, account, person, role int64) (fresh bool, err error) {
	n, err := tx.Exec(`INSERT INTO person_role (account_id, person_id, role_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, account, person,
		role)
	return n > 0, err
}

// Take revokes a role of a person without a check of permissions, for sign-ins whose provider decides the roles;
// had is false when the person did not have the role.
func Take(tx *db.Tx, account, person, role int64) (had bool, err error) {
	n, err := tx.Exec(`DELETE FROM person_role WHERE account_id = $1 AND person_id = $2 AND role_id = $3`, account, person, role)
	return n > 0, err
}

// RevokeAll revokes all roles of a person.
func RevokeAll(tx *db.Tx, account, person int64) error {
	return tx.Do(`DELETE FROM person_role WHERE account_id = $1 AND person_id = $2`, account, person)
}

// Held returns the roles of all persons of an account, in ascending order.
func Held(tx *db.Tx, account int64) (map[int64][]int64, error) {
	type pair struct{ person, role int64 }
	pairs, err := db.All(tx, func(scan db.Scan) (p pair, err error) { return p, scan(&p.person, &p.role) },
		`SELECT person_id, role_id FROM person_role WHERE account_id = $1 ORDER BY person_id, role_id`, account)
	held := map[int64][]int64{}
	for _, p := range pairs {
		held[p.person] = append(held[p.person], p.role)
	}
	return held, err
}
