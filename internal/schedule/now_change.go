package schedule

import (
	"fmt"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
)

// changesNow returns a warning if other persons, or persons in other roles, are on call now after a change of a schedule
// than before it. All shifts are computed from the layers as they are, so such a change shows other persons for the past
// too. The first layers of an empty schedule are no such change.
func changesNow(c *api.Call, before, after *stored) ([]string, error) {
	if len(before.Layers) == 0 {
		return nil, nil
	}
	was, err := before.shiftsAt(c.Unix(), c.Who.Zone)
	if err != nil {
		return nil, err
	}
	will, err := after.shiftsAt(c.Unix(), c.Who.Zone)
	if err != nil {
		return nil, err
	}
	if gained, lost := oncall.Diff(was, will); len(gained)+len(lost) == 0 {
		return nil, nil
	}
	n := names{c, map[int64]string{}}
	from, err := n.holders(was)
	if err != nil {
		return nil, err
	}
	to, err := n.holders(will)
	return []string{"layers: " + sentence.Of("w_now_changes", from, to)}, err
}

// shiftsAt returns the shifts at a moment, of one second each.
func (s *stored) shiftsAt(at int64, account *time.Location) ([]oncall.Shift, error) {
	e, err := s.engine(account)
	if err != nil {
		return nil, err
	}
	return e.Shifts(e.Window(at, at+1).Final), nil
}

// holders returns the persons of shifts as part of a sentence, with each role other than primary.
func (n names) holders(shifts []oncall.Shift) (string, error) {
	if len(shifts) == 0 {
		return "no one", nil
	}
	var shown []string
	for _, s := range shifts[:min(len(shifts), maxShown)] {
		name, err := n.name(s.PersonID)
		if err != nil {
			return "", err
		}
		if s.RoleID != 0 {
			name += fmt.Sprintf(" (%s)", lint.RoleName(s.RoleID))
		}
		shown = append(shown, name)
	}
	return list(shown, len(shifts)-len(shown), "persons"), nil
}
