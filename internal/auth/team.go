package auth

import "tocsin/internal/platform/db"

// InTeam reports whether the caller is in any of these teams. Membership is no permission: each package decides what
// members may do (docs/api.md, "Data permission").
func InTeam(tx *db.Tx, who Principal, teams ...int64) (bool, error) {
	for _, team := range teams {
		if team == 0 {
			continue
		}
		_, found, err := db.One(tx, db.Column[int64],
			`SELECT 1 FROM team_person WHERE account_id = $1 AND team_id = $2 AND person_id = $3`, who.AccountID, team, who.PersonID)
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}
