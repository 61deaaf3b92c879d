package schedule

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// ReleasePerson implements person.Release: it removes a person from the layers of schedules, and deletes the overrides that name
// the person and are not past.
func (r *Service) ReleasePerson(c *api.Call, person int64) error {
	overrides, err := sources(c, person, configstore.Override)
	if err != nil {
		return err
	}
	schedules, err := sources(c, person, configstore.Schedule)
	if err != nil || len(overrides)+len(schedules) == 0 {
		return err
	}
	if !c.Who.May(auth.SchedulesManage) {
		return fault.Denied("this key lacks the permission %s, which is required to remove a person from schedules", auth.SchedulesManage)
	}
	if len(overrides) > 0 {
		if _, err := r.overrideDelete(c, OverrideDeleteRequest{OverrideIDs: overrides}); err != nil {
			return err
		}
	}
	for _, id := range schedules {
		s, err := get(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return err
		}
		if err := s.release(c, person); err != nil {
			return err
		}
	}
	return nil
}

// release removes a person from the layers of the schedule and stores it.
func (s *stored) release(c *api.Call, person int64) (err error) {
	s.Layers, err = s.without(person, c.Unix())
	if err != nil {
		return err
	}
	s.UpdateAt, s.UpdateBy = c.Unix(), c.Who.PersonID
	if err := s.update(c.Tx); err != nil {
		return err
	}
	from, to := s.references()
	if err := configstore.SetReferences(c.Tx, s.AccountID, from, to...); err != nil {
		return err
	}
	c.Changed(configstore.Schedule, s.ScheduleID, s.Name)
	return nil
}

// without returns the layers without a person. A layer that has ended is left out if no one would hold a role in one of its
// turns; in any other layer that is fault.Conflict.
func (s *stored) without(person, now int64) (layers []LayerConfig, err error) {
	for _, l := range s.Layers {
		l.Groups = slices.Clone(l.Groups)
		alone := -1
		for i := range l.Groups {
			if l.Groups[i].release(person) {
				alone = i
			}
		}
		ended := l.ExpireTime != 0 && l.ExpireTime <= now
		switch {
		case alone < 0:
			layers = append(layers, l)
		case !ended:
			return nil, fault.New(fault.Conflict,
				"person %d is alone in a role of turn %d (%s) of layer %s of schedule %d (%s): name another person there first", person,
				alone+1, l.Groups[alone].GroupName, l.LayerName, s.ScheduleID, s.Name)
		}
	}
	return layers, nil
}

// release removes a person from the group. alone reports that no one holds a role any more: steps that notify this role
// alone would notify no one.
func (g *Group) release(person int64) (alone bool) {
	var members []Member
	var lost []int64 // the roles that the person held
	held := map[int64]bool{}
	for _, m := range g.Members {
		left := slices.DeleteFunc(slices.Clone(m.PersonIDs), func(p int64) bool { return p == person })
		if len(left) < len(m.PersonIDs) {
			lost = append(lost, m.RoleID)
		}
		if len(left) > 0 {
			held[m.RoleID] = true
			members = append(members, Member{RoleID: m.RoleID, PersonIDs: left})
		}
	}
	if len(lost) > 0 {
		g.Members = members
	}
	return slices.ContainsFunc(lost, func(role int64) bool { return !held[role] })
}
