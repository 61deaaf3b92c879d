package schedule

import (
	"cmp"
	"fmt"
	"maps"

	"tocsin/internal/db"
	"tocsin/internal/seal"
)

// Replace is Load in which a record may have the id of a schedule that is there already, and then takes its
// place. What the record does not say stays as it is: stamps that are 0, and secrets of a webhook that are
// empty, as in a file without secrets, when the webhook at the same place is of the same type.
func Replace(tx *db.Tx, box *seal.Box, account int64, records []Record) error {
	for i, r := range records {
		s, err := r.stored(account, fmt.Sprintf("schedules[%d].", i))
		if err != nil {
			return err
		}
		old, err := find(tx, account, s.ScheduleID, true)
		if err != nil {
			return err
		}
		if old != nil {
			s.CreateAt, s.CreateBy = cmp.Or(s.CreateAt, old.CreateAt), cmp.Or(s.CreateBy, old.CreateBy)
			s.UpdateAt, s.UpdateBy = cmp.Or(s.UpdateAt, old.UpdateAt), cmp.Or(s.UpdateBy, old.UpdateBy)
			clear, err := old.Notify.opened(box, old.Stamps)
			if err != nil {
				return err
			}
			s.Notify.keep(clear)
			if err := Erase(tx, account, s.ScheduleID); err != nil {
				return err
			}
		}
		if s.Notify, err = s.Notify.sealed(box, s.Stamps); err != nil {
			return err
		}
		if _, err := s.insert(tx); err != nil {
			return err
		}
		if err := s.refer(tx); err != nil {
			return err
		}
	}
	return nil
}

// keep fills empty secrets in with those of an older notification in clear. The notification is the
// caller's own, settled one.
func (n *Notify) keep(old *Notify) {
	if n == nil || old == nil || n.Webhooks == nil || old.Webhooks == nil {
		return
	}
	for i := range min(len(*n.Webhooks), len(*old.Webhooks)) {
		w, o := &(*n.Webhooks)[i], &(*old.Webhooks)[i]
		if w.Type != o.Type {
			continue
		}
		w.Settings.Token = cmp.Or(w.Settings.Token, o.Settings.Token)
		w.Settings.VerifyToken = cmp.Or(w.Settings.VerifyToken, o.Settings.VerifyToken)
		w.Settings.SignSecret = cmp.Or(w.Settings.SignSecret, o.Settings.SignSecret)
		w.Settings.Others = maps.Clone(w.Settings.Others)
		for name, value := range o.Settings.Others {
			if secretive(name, value) && string(w.Settings.Others[name]) == `""` {
				w.Settings.Others[name] = value
			}
		}
	}
}
