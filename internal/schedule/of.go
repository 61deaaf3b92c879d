package schedule

import (
	"time"

	"tocsin/internal/core/lint"
	"tocsin/internal/platform/db"
)

// OfTeam lists the schedules of a team.
func OfTeam(tx *db.Tx, account, team int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT schedule_id FROM schedule WHERE account_id = $1 AND team_id = $2 ORDER BY schedule_id`,
		account, team)
}

// Naming lists the enabled schedules that name a person in a layer, or as one who covers for another.
func Naming(tx *db.Tx, account, person int64, zone *time.Location) (ids []int64, err error) {
	enabled, err := Enabled(tx, account)
	if err != nil {
		return nil, err
	}
	for _, id := range enabled {
		s, err := find(tx, account, id)
		if err != nil {
			return nil, err
		}
		e, err := s.engine(zone)
		if err != nil {
			return nil, err
		}
		if isMember(e, person, 0) { // a cover that has ended counts too: feeds show what was
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// RoleName returns the name of an on-call role.
func RoleName(role int64) string { return lint.Role(role).English() }
