package schedule

import (
	"fmt"
	"strings"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// maxListed is how many unknown persons a warning lists by number.
const maxListed = 20

// warnings lists what is accepted in a schedule but probably not meant: warnings of the engine, notifications that cannot
// be delivered, and a team and persons that do not exist (docs/api.md, "Schedules").
func (s *stored) warnings(tx *db.Tx, account *time.Location) ([]string, error) {
	e, err := s.engine(account)
	if err != nil {
		return nil, err
	}
	all := append(e.Warnings(), s.Notify.warnings()...)
	if s.TeamID != 0 {
		found, err := configstore.Known(tx, s.AccountID, configstore.RefTo(configstore.Team, s.TeamID))
		if err != nil {
			return nil, err
		}
		if !found {
			all = append(all, fmt.Sprintf("team_id: team %d does not exist", s.TeamID))
		}
	}
	unknown, err := s.unknownPersons(tx)
	if err != nil || len(unknown) == 0 {
		return all, err
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

// unknownPersons lists the persons in the layers that the account does not have, in order of appearance.
func (s *stored) unknownPersons(tx *db.Tx) (unknown []int64, err error) {
	for _, p := range s.persons() {
		known, err := configstore.Known(tx, s.AccountID, configstore.RefTo(configstore.Person, p))
		if err != nil {
			return nil, err
		}
		if !known {
			unknown = append(unknown, p)
		}
	}
	return unknown, nil
}
