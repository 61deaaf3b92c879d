package schedule

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// CoverRequest is a person's request that another be on call in their place. The first who accepts is, by an override.
type CoverRequest struct {
	RequestID  int64   `json:"request_id" doc:"Identifier of the request."`
	ScheduleID int64   `json:"schedule_id" doc:"The schedule."`
	PersonID   int64   `json:"person_id" doc:"Who asks to be replaced."`
	RoleID     int64   `json:"role_id" doc:"The on-call role in which they are; -1: each that they hold."`
	Start      int64   `json:"start" doc:"First second, Unix seconds."`
	End        int64   `json:"end" doc:"First second after it, Unix seconds."`
	Reason     string  `json:"reason" doc:"Why; may be empty."`
	AskedIDs   []int64 `json:"asked_ids" doc:"The persons who are asked."`
	Declined   []int64 `json:"declined_ids" doc:"Those of them who declined."`
	Status     string  `json:"status" enum:"open,accepted,declined,cancelled,expired" doc:"open, until one of the persons accepts, all decline, the request is cancelled, or expire_at."`
	TakenBy    int64   `json:"taken_by,omitzero" doc:"Who accepted; absent: no one."`
	OverrideID int64   `json:"override_id,omitzero" doc:"The override that it became; absent: none. It may be deleted since."`
	ExpireAt   int64   `json:"expire_at" doc:"Until when it can be accepted, Unix seconds: its start or, if the shift had begun already, its end."`
	CreateAt   int64   `json:"create_at" doc:"When it was made, Unix seconds."`
	UpdateAt   int64   `json:"update_at" doc:"When it was last answered or cancelled, Unix seconds."`

	account int64
}

// The statuses of requests for cover.
const (
	CoverOpen      = "open"
	CoverAccepted  = "accepted"
	CoverDeclined  = "declined"
	CoverCancelled = "cancelled"
	CoverExpired   = "expired"
)

// coverStatuses has the statuses by their numbers in the database.
var coverStatuses = []string{CoverOpen, CoverAccepted, CoverDeclined, CoverCancelled, CoverExpired}

// CoverEvent is what happened to a request for cover, for the notifications about it. The request has its new status.
type CoverEvent struct {
	Account int64
	Request CoverRequest
	Actor   int64   // the person who caused it; 0: no one
	To      []int64 // who is notified
}

// Covered is called with what happened to a request for cover, in the transaction in which it happened.
type Covered func(tx *db.Tx, e CoverEvent, now time.Time) error

// FindCover returns a request for cover; found is false when the account has none of this id.
func FindCover(tx *db.Tx, account, request int64) (q CoverRequest, found bool, err error) {
	return db.One(tx, scanCover, `SELECT `+coverColumns+` FROM cover_request WHERE account_id = $1 AND request_id = $2`, account, request)
}

// getCover returns a request for cover, or fault.Missing.
func getCover(c *api.Call, request int64) (CoverRequest, error) {
	q, found, err := FindCover(c.Tx, c.Who.AccountID, request)
	if err == nil && !found {
		err = fault.Missing(configstore.Cover, request)
	}
	return q, err
}

// checkOpen returns fault.Conflict for a request that cannot be answered any more.
func (q *CoverRequest) checkOpen(now int64) error {
	switch {
	case q.Status == CoverAccepted:
		return fault.New(fault.Conflict, "another person has taken the shift")
	case q.Status != CoverOpen:
		return fault.New(fault.Conflict, "the request for cover is %s", q.Status)
	case q.ExpireAt <= now:
		return fault.New(fault.Conflict, "the request for cover has expired")
	}
	return nil
}

// waiting returns the persons who were asked and have not declined, but for one.
func (q *CoverRequest) waiting(except int64) []int64 {
	return slices.DeleteFunc(slices.Clone(q.AskedIDs), func(id int64) bool { return id == except || slices.Contains(q.Declined, id) })
}

// left returns the part of a request's window in which its person is still on call.
func (q *CoverRequest) left(c *api.Call, s *stored) (window, bool, error) {
	return s.served(c, window{from: q.Start, to: q.End}, ownShift(q.PersonID, q.RoleID))
}

// settle stores a request's new state and notifies persons of it.
func (r *Service) settle(c *api.Call, q *CoverRequest, to []int64) error {
	q.UpdateAt = c.Unix()
	if err := q.update(c.Tx); err != nil {
		return err
	}
	c.Touched(configstore.Cover, q.RequestID, q.called())
	return r.publish(c, q, to)
}

// publish notifies persons of what happened to a request.
func (r *Service) publish(c *api.Call, q *CoverRequest, to []int64) error {
	if r.Covered == nil || len(to) == 0 {
		return nil
	}
	return r.Covered(c.Tx, CoverEvent{Account: q.account, Request: *q, Actor: c.Who.PersonID, To: to}, c.Now)
}

// called returns what people call a request: who asks, and for when.
func (q *CoverRequest) called() string {
	return fmt.Sprintf("person %d from %d to %d", q.PersonID, q.Start, q.End)
}
