package schedule

import "tocsin/internal/platform/db"

// HeldRoles returns the roles that anyone has in the layers of a schedule; nil when it is disabled, has no layers or
// does not exist, so that no one is ever on call in it.
func HeldRoles(tx *db.Tx, account, schedule int64) (map[int64]bool, error) {
	s, err := find(tx, account, schedule)
	if err != nil || s == nil || s.Status == 1 || len(s.Layers) == 0 {
		return nil, err
	}
	held := map[int64]bool{}
	for _, l := range s.Layers {
		for _, g := range l.Groups {
			for _, m := range g.Members {
				held[m.RoleID] = held[m.RoleID] || len(m.PersonIDs) > 0
			}
		}
	}
	return held, nil
}
