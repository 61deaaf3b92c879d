package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// coverCancel closes an open request of the caller. Who manages schedules may cancel those of others.
func (r *Service) coverCancel(c *api.Call, in CoverAnswerRequest) (reply api.Empty, err error) {
	q, err := getCover(c, in.RequestID)
	if err != nil {
		return reply, err
	}
	to := q.waiting(c.Who.PersonID)
	if q.PersonID != c.Who.PersonID {
		if !manages(c) {
			return reply, fault.Denied("request %d for cover is another person's", in.RequestID)
		}
		to = append(to, q.PersonID)
	}
	if err := q.checkOpen(c.Unix()); err != nil {
		return reply, err
	}
	q.Status = CoverCancelled
	return reply, r.settle(c, &q, to)
}
