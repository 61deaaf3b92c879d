package schedule

import (
	"slices"

	"tocsin/internal/api"
)

// coverDecline records that the caller does not accept. When all have declined, the person who asked is notified.
func (r *Service) coverDecline(c *api.Call, in CoverAnswerRequest) (reply api.Empty, err error) {
	q, err := askedOf(c, in.RequestID)
	if err != nil {
		return reply, err
	}
	if !slices.Contains(q.Declined, c.Who.PersonID) {
		q.Declined = append(q.Declined, c.Who.PersonID)
	}
	var to []int64
	if len(q.waiting(0)) == 0 {
		q.Status, to = CoverDeclined, []int64{q.PersonID}
	}
	return reply, r.settle(c, &q, to)
}
