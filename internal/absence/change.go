package absence

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
)

// change is a change of a person's absences. It is computed before the write transaction: of many schedules that takes longer
// than other writers may wait.
type change struct {
	before   []Absence // of the person
	old, now *Absence  // the absence before and after the change; nil: no absence
	dryRun   bool
	revision int64 // of the configuration that it was computed from
	reply    Changed
	moved    []Effect // until its end, which is later than that of the reply; of a dry run none
}

// computed returns the function that reads a change and computes its effects.
func computed[In any](r *Service, read func(*api.Call, In) (change, error)) func(*api.Call, In) (change, error) {
	return func(c *api.Call, in In) (ch change, err error) {
		var effects Compute
		err = c.Read(func() error {
			ch, err = read(c, in)
			if err != nil {
				return err
			}
			ch.revision, err = configstore.Revision(c.Tx, c.Who.AccountID)
			if err != nil {
				return err
			}
			effects, err = r.Effects(c, ch.person(), engine(ch.before), engine(ch.after()))
			return err
		})
		if err == nil {
			err = ch.compute(c.Unix(), effects)
		}
		return ch, err
	}
}

// person returns whose absence is changed.
func (ch *change) person() int64 { return cmp.Or(ch.now, ch.old).PersonID }

// after returns the absences of the person after the change.
func (ch *change) after() []Absence {
	list := slices.Clone(ch.before)
	if ch.old != nil {
		list = slices.DeleteFunc(list, func(a Absence) bool { return a.AbsenceID == ch.old.AbsenceID })
	}
	if ch.now != nil {
		list = append(list, *ch.now)
	}
	return list
}

// compute fills in the reply at a moment, in Unix seconds. It covers a short time; persons who stand in are notified of all
// shifts.
func (ch *change) compute(from int64, effects Compute) error {
	ch.reply = Changed{DryRun: ch.dryRun, Start: from, End: from, Effects: []Effect{}}
	versions := slices.DeleteFunc([]*Absence{ch.old, ch.now}, func(a *Absence) bool { return a == nil || a.End <= from })
	if len(versions) == 0 {
		return nil
	}
	ch.reply.Start = max(versions[0].Start, from)
	end := versions[0].End
	for _, a := range versions[1:] {
		ch.reply.Start, end = min(ch.reply.Start, max(a.Start, from)), max(end, a.End)
	}
	ch.reply.End = min(end, ch.reply.Start+effectSpan)
	found, warnings, err := effects(ch.reply.Start, ch.reply.End)
	ch.reply.Effects, ch.reply.Warnings.Warnings = found, sentence.ToWords(warnings)
	if err != nil || ch.dryRun {
		return err
	}
	ch.moved = ch.reply.Effects
	if end > ch.reply.End {
		ch.moved, _, err = effects(ch.reply.Start, end)
	}
	return err
}

// check returns api.ErrChanged if the configuration has changed since the change was computed: the persons who stand in would be
// others.
func (ch *change) check(c *api.Call) error {
	revision, err := configstore.Revision(c.Tx, c.Who.AccountID)
	if err == nil && revision != ch.revision {
		err = api.ErrChanged
	}
	return err
}

// written raises the configuration revision, notifies the persons whose shifts a change moves, and returns its reply.
func (r *Service) written(c *api.Call, ch *change) (Changed, error) {
	if err := configstore.BumpRevision(c.Tx, c.Who.AccountID); err != nil {
		return Changed{}, err
	}
	if r.Moved == nil || len(ch.moved) == 0 {
		return ch.reply, nil
	}
	revision, err := configstore.Revision(c.Tx, c.Who.AccountID)
	if err != nil {
		return Changed{}, err
	}
	return ch.reply, r.Moved(c.Tx, Moved{Account: c.Who.AccountID, Person: ch.person(), Actor: c.Who.PersonID, Revision: revision,
		Before: ch.old, After: ch.now, Effects: ch.moved}, c.Now)
}
