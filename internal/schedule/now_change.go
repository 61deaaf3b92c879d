package schedule

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
)

// maxCompared is how many schedules are compared for the reply of one write.
const maxCompared = 500

// Oncall implements api.Oncall.
func Oncall(c *api.Call, objects []configstore.Target) (api.OncallAfter, error) {
	var ids []int64
	for _, o := range objects {
		more, err := dependents(c.Tx, c.Who.AccountID, o, c.Unix())
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	ids = distinct(ids)
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	more := len(ids) - maxCompared
	ids = ids[:min(len(ids), maxCompared)]
	before, err := readNow(c.Tx, c.Who.AccountID, ids)
	if err != nil {
		return nil, err
	}
	return func(c *api.Call) (api.OncallChange, error) {
		after, err := readNow(c.Tx, c.Who.AccountID, ids)
		return func(c *api.Call) ([]string, error) {
			list, err := before.warnings(c, after)
			if err == nil && more > 0 {
				list = append(list, sentence.Of("w_now_not_compared", more))
			}
			return list, err
		}, err
	}, nil
}

// warnings returns a warning for each schedule in which other persons are on call now. It is called without a transaction.
func (n Now) warnings(c *api.Call, after Now) (list []string, err error) {
	changes, err := n.Changes(after, c.Unix())
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	err = c.Read(func() error {
		n := names{c, map[int64]string{}}
		for _, change := range changes {
			text, err := change.Words(n.name)
			if err != nil {
				return err
			}
			list = append(list, text)
		}
		return nil
	})
	return list, err
}

// Words returns the change in words; name returns the names of persons.
func (c NowChange) Words(name func(person int64) (string, error)) (string, error) {
	from, to, err := holderNames(name, c.From, c.To)
	return sentence.Of("w_now_changes_in", c.Schedule.ID, c.Schedule.Name, from, to), err
}

// changeOfNow is a warning that other persons, or persons in other roles, are on call now after a change of a schedule than before
// it. All shifts are computed from the layers as they are, so such a change shows other persons for the past too. The first
// layers of an empty schedule are no such change.
type changeOfNow struct{ was, will []oncall.Shift }

// changesNow returns the warning; nil: the same persons are on call.
func changesNow(c *api.Call, before, after *stored) (*changeOfNow, error) {
	if len(before.Layers) == 0 {
		return nil, nil
	}
	was, err := before.shiftsAt(c.Unix(), c.Who.Zone)
	if err != nil {
		return nil, err
	}
	will, err := after.shiftsAt(c.Unix(), c.Who.Zone)
	if err != nil || !differ(was, will) {
		return nil, err
	}
	return &changeOfNow{was, will}, nil
}

// words returns the warning as it is shown. A schedule that is enabled or disabled shows the same persons for the past.
func (n *changeOfNow) words(c *api.Call, status bool) ([]sentence.Value, error) {
	if n == nil {
		return nil, nil
	}
	from, to, err := holderNames(names{c, map[int64]string{}}.name, n.was, n.will)
	if status {
		return []sentence.Value{sentence.New("named_why", "status", sentence.New("w_now_changes_status", from, to))}, err
	}
	return []sentence.Value{sentence.New("l_layers", sentence.New("w_now_changes", from, to))}, err
}

// holderNames returns the persons of shifts before and after a change as parts of a sentence.
func holderNames(name func(int64) (string, error), was, will []oncall.Shift) (from, to []sentence.Value, err error) {
	from, err = holders(name, was)
	if err != nil {
		return nil, nil, err
	}
	to, err = holders(name, will)
	return from, to, err
}

// holders returns the persons of shifts as part of a sentence, with each role other than primary.
func holders(nameOf func(int64) (string, error), shifts []oncall.Shift) ([]sentence.Value, error) {
	if len(shifts) == 0 {
		return []sentence.Value{sentence.New("no_one")}, nil
	}
	var shown []sentence.Value
	for _, s := range shifts[:min(len(shifts), maxShown)] {
		name, err := nameOf(s.PersonID)
		if err != nil {
			return nil, err
		}
		one := sentence.Raw(name)
		if s.RoleID != 0 {
			one = sentence.New("in_role", name, lint.Role(s.RoleID))
		}
		shown = append(shown, one)
	}
	if more := len(shifts) - len(shown); more > 0 {
		shown = append(shown, sentence.New("more_persons", more))
	}
	return shown, nil
}
