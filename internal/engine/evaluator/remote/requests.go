package remote

import (
	"context"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/querier"
)

// Requests returns the job that answers the questions of persons.
func (c *Center) Requests() jobs.Job {
	return jobs.Job{Name: "requests", Interval: 5 * time.Second, Run: c.requests, Wait: c.asked.Wait}
}

// requests waits for requests, and begins to answer them.
func (c *Center) requests(ctx context.Context, now time.Time) (again time.Time, err error) {
	var reply RequestsReply
	if err := c.call(ctx, PathRequests, c.member, &reply); err != nil {
		return time.Time{}, nil //nolint:nilerr // a report fails then too, and is logged
	}
	for _, text := range reply.Requests { // the server bounds how many there are at a time
		c.asked.Go(func() {
			var r Request
			_ = Unmarshal(text, &r) // of an unknown kind, if it cannot be read
			answer := c.answer(ctx, r)
			answer.Member, answer.ID = c.member, r.ID
			if err := c.call(ctx, PathAnswer, answer, nil); err != nil && ctx.Err() == nil {
				c.Log.Error("an answer could not be sent", "error", err)
			}
		})
	}
	return now, nil
}

// answer asks a datasource.
func (c *Center) answer(ctx context.Context, r Request) (a AnswerRequest) {
	c.mu.Lock()
	info := SourceInfo(c.kept.Account, c.kept.Cluster, r.Source.ID, c.member.EdgeID)
	c.mu.Unlock()
	d, err := open(c.key, info, r.Source.Sealed)
	if err != nil {
		a.Failed = &evaluate.Failure{Kind: evaluate.Invalid, Message: err.Error()}
		return a
	}
	q, failed := c.Open(d)
	if failed != nil {
		a.Failed = failed
		return a
	}
	defer q.Close()
	switch r.Kind {
	case KindTest:
		a.Phases = q.Test(ctx)
	case KindQuery:
		a.Rows, a.Failed = q.Query(ctx, r.Ask)
	case KindRange:
		ranger, can := q.(querier.Ranger)
		if !can {
			a.Failed = querier.Unsupported("datasources of type %s cannot be asked about many moments", d.Type)
			return a
		}
		a.Series, a.Failed = ranger.Range(ctx, r.Ask, r.From, r.To, time.Duration(r.Step)*time.Second)
	default:
		a.Failed = &evaluate.Failure{Kind: evaluate.Unsupported, Message: "this edge does not know requests of this kind"}
	}
	return a
}
