package accountfile

import (
	"context"
	"fmt"
	"time"

	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// oncall names the schedules in which other persons are on call now.
func (f *File) oncall(ctx context.Context, d *db.DB, was, will schedule.Now, now time.Time) (list []string, err error) {
	changes, err := was.Changes(will, now.Unix())
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	err = d.Snapshot(ctx, func(tx *db.Tx) error {
		for _, c := range changes {
			text, err := c.Words(func(id int64) (string, error) { return f.personName(tx, id) })
			if err != nil {
				return err
			}
			list = append(list, text)
		}
		return nil
	})
	return list, err
}

// personName returns the name of a person in the file, or else of the account before it.
func (f *File) personName(tx *db.Tx, id int64) (string, error) {
	for i := range f.Persons {
		if f.Persons[i].PersonID == id {
			return f.Persons[i].PersonName, nil
		}
	}
	p, found, err := person.Find(tx, f.Account.AccountID, id)
	if !found {
		return fmt.Sprintf("person %d", id), err
	}
	return p.PersonName, err
}
