package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/team"
)

// maxListed is how many unknown persons a warning lists by number.
const maxListed = 20

// warnings lists what is accepted in a schedule but probably not meant: warnings of the engine, holes in the next 90 days,
// notifications that cannot be delivered, and a team and persons that do not exist (docs/api.md, "Schedules").
func (s *stored) warnings(tx *db.Tx, account *time.Location, now int64) ([]string, error) {
	checked, err := s.checked(tx, account)
	if err != nil {
		return nil, err
	}
	all := append(checked.Timeline.Warnings(), checked.Warnings(now, s.Status == 0)...)
	all = append(all, s.Notify.warnings()...)
	if s.TeamID != 0 {
		found, err := team.Table.Known(tx, s.AccountID, s.TeamID)
		if err != nil {
			return nil, err
		}
		if !found {
			all = append(all, fmt.Sprintf("team_id: team %d does not exist", s.TeamID))
		}
	}
	unknown := slices.DeleteFunc(s.persons(), func(p int64) bool { return checked.Names[p] != "" })
	if len(unknown) == 0 {
		return all, nil
	}
	names := make([]string, 0, maxListed)
	for _, p := range unknown[:min(len(unknown), maxListed)] {
		names = append(names, fmt.Sprint(p))
	}
	text := "layers: no such persons: " + strings.Join(names, ", ")
	if more := len(unknown) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return append(all, text), nil
}
