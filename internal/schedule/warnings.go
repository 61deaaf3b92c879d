package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/team"
)

// maxListed is how many unknown persons a warning lists by number.
const maxListed = 20

// named is what warnings of a schedule need besides it.
type named struct {
	persons map[int64]string // the names of those in the layers
	team    bool             // whether the team exists, or there is none
}

// named reads the names of the schedule's persons, and whether its team exists.
func (s *stored) named(tx *db.Tx) (n named, err error) {
	n.persons, err = personNames(tx, s.AccountID, s.persons())
	if err != nil || s.TeamID == 0 {
		n.team = true
		return n, err
	}
	n.team, err = team.Table.Known(tx, s.AccountID, s.TeamID)
	return n, err
}

// warnings lists what is accepted in a schedule but probably not meant: warnings of the engine, holes in the next 90 days,
// notifications that cannot be delivered, and a team and persons that do not exist (docs/api.md, "Schedules"). It computes, so
// it is called outside of transactions that write.
func (s *stored) warnings(n named, account *time.Location, now int64) ([]sentence.Value, error) {
	checked, err := s.checked(n.persons, account)
	if err != nil {
		return nil, err
	}
	all := append(checked.Timeline.Warnings(), checked.Warnings(now, s.Status == 0)...)
	for _, text := range s.Notify.warnings() {
		all = append(all, sentence.Raw(text))
	}
	if !n.team {
		all = append(all, sentence.Raw(fmt.Sprintf("team_id: team %d does not exist", s.TeamID)))
	}
	unknown := slices.DeleteFunc(s.persons(), func(p int64) bool { return n.persons[p] != "" })
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
	return append(all, sentence.Raw(text)), nil
}
