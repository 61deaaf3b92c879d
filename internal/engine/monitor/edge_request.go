package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/querier"
)

// Bounds of the requests of an account to its edges.
const (
	mostRequests  = 10 // that wait for an answer
	requestTime   = 30 * time.Second
	answerMargin  = 3 * time.Second        // for the way to the edge and back
	pollRequests  = 500 * time.Millisecond // where another node of the server may have written
	requestGoneMS = 60_000                 // a request this old is of a process that is gone
)

// Phases of failures that are not of a datasource.
const (
	phaseNoEdge = "edge"
	phaseLate   = "answer"
	phaseBusy   = "queue"
)

// errWaiting means that what is waited for is not there yet.
var errWaiting = errors.New("not there yet")

// arrivals wakes calls that wait for requests to edges, or for their answers.
type arrivals struct {
	mu      sync.Mutex
	waiting map[int64]chan struct{} // by account
}

// next returns a channel that is closed at the next arrival of an account.
func (a *arrivals) next(account int64) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	ch := a.waiting[account]
	if ch == nil {
		ch = make(chan struct{})
		a.waiting[account] = ch
	}
	return ch
}

func (a *arrivals) wake(account int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ch := a.waiting[account]; ch != nil {
		close(ch)
		delete(a.waiting, account)
	}
}

// await calls look until it finds what it looks for, at each arrival of the account. It returns errWaiting when the time is over.
func (r *Service) await(ctx context.Context, account int64, most time.Duration, look func(*db.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	poll := make(<-chan time.Time)
	if r.DB.Shared() {
		ticker := time.NewTicker(pollRequests)
		defer ticker.Stop()
		poll = ticker.C
	}
	for {
		arrived := r.arrivals.next(account)
		if err := r.DB.Read(db.For(context.WithoutCancel(ctx), account), look); !errors.Is(err, errWaiting) {
			return err
		}
		select {
		case <-arrived:
		case <-poll:
		case <-r.stopping:
			return errWaiting
		case <-ctx.Done():
			return errWaiting
		}
	}
}

// StopWaiting ends the calls that wait, for which a server that stops would wait.
func (r *Service) StopWaiting() { r.stop() }

// throughEdge asks a datasource through a live member of its cluster.
type throughEdge struct {
	*Service
	account int64
	source  datasource.Connection
}

func (q *throughEdge) Close() error { return nil }

// Query asks the datasource for the rows of a query.
func (q *throughEdge) Query(ctx context.Context, ask querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	answer, failed := q.ask(ctx, remote.Request{Kind: remote.KindQuery, Ask: ask}, ask.Wait()+answerMargin)
	return answer.Rows, failed
}

// Range asks the datasource for the values of a query at many moments.
func (q *throughEdge) Range(
	ctx context.Context, ask querier.Ask, from, to time.Time, step time.Duration,
) ([]querier.Series, *evaluate.Failure) {
	one := remote.Request{Kind: remote.KindRange, Ask: ask, From: from, To: to, Step: int64(step.Seconds())}
	answer, failed := q.ask(ctx, one, ask.Wait()+answerMargin)
	return answer.Series, failed
}

// Test tests the connection from the member.
func (q *throughEdge) Test(ctx context.Context) []querier.Phase {
	answer, failed := q.ask(ctx, remote.Request{Kind: remote.KindTest}, requestTime)
	if failed != nil {
		return []querier.Phase{querier.Failed(failed, 0)}
	}
	return answer.Phases
}

// ask stores a request to a member, and waits for its answer.
func (q *throughEdge) ask(ctx context.Context, one remote.Request, most time.Duration) (a remote.AnswerRequest, failed *evaluate.Failure) {
	now := q.Clock.Now()
	to, failed := q.choose(ctx, now)
	if failed != nil {
		return a, failed
	}
	sealed, err := remote.SealTo(to.PublicKey, remote.SourceInfo(q.account, q.source.Cluster, q.source.ID, to.ID), q.source.Datasource)
	if err != nil {
		return a, broken(err)
	}
	one.ID = id.Object(now)
	one.Source = remote.Source{ID: q.source.ID, Sealed: sealed}
	if failed := q.put(ctx, to, &one, now); failed != nil {
		return a, failed
	}
	defer q.remove(context.WithoutCancel(ctx), one.ID)
	text := ""
	err = q.await(ctx, q.account, min(most, requestTime), func(tx *db.Tx) (err error) {
		text, _, err = db.One(tx, db.Column[string], `SELECT answer FROM edge_request WHERE account_id = $1 AND request_id = $2`,
			q.account, one.ID)
		if err == nil && text == "" {
			err = errWaiting
		}
		return err
	})
	if errors.Is(err, errWaiting) {
		return a, &evaluate.Failure{Kind: evaluate.Timeout, Phase: phaseLate, Message: fmt.Sprintf("edge %s did not answer in time", to.Name)}
	}
	if err == nil {
		err = remote.Unmarshal([]byte(text), &a)
	}
	if err != nil {
		return a, broken(err)
	}
	return a, a.Failed
}

// broken returns the failure of a request that could not be made.
func broken(err error) *evaluate.Failure {
	return &evaluate.Failure{Kind: evaluate.Unreachable, Phase: phaseLate, Message: fmt.Sprintf("the edge could not be asked: %.200s", err)}
}

// choose returns the live member that was in touch last.
func (q *throughEdge) choose(ctx context.Context, now time.Time) (to edge.Member, failed *evaluate.Failure) {
	var all clusters
	err := q.DB.Read(db.For(ctx, q.account), func(tx *db.Tx) (err error) {
		all, err = clustersAt(tx, q.account, now)
		return err
	})
	if err != nil {
		return to, broken(err)
	}
	able, state, reason := all.able(q.source.Cluster, q.source.Type)
	switch state {
	case stateOffline:
		return to, &evaluate.Failure{Kind: evaluate.Unreachable, Phase: phaseNoEdge, Message: reason}
	case stateUnsupported:
		return to, &evaluate.Failure{Kind: evaluate.Unsupported, Message: reason}
	}
	return last(able), nil
}

// last returns the member that was in touch last.
func last(all []edge.Member) edge.Member {
	return slices.MaxFunc(all, func(a, b edge.Member) int { return a.Seen.Compare(b.Seen) })
}

// noEdge describes a cluster without a live member.
func noEdge(cluster string, all []edge.Member) string {
	if len(all) == 0 {
		return fmt.Sprintf("no edge of cluster %s is live", cluster)
	}
	m := last(all)
	return fmt.Sprintf("no edge of cluster %s is live; the last, %s, was seen %s", cluster, m.Name, m.Seen.UTC().Format("2 Jan 15:04:05 UTC"))
}

// put stores a request. An account has few at a time.
func (q *throughEdge) put(ctx context.Context, to edge.Member, one *remote.Request, now time.Time) (failed *evaluate.Failure) {
	body, err := remote.Marshal(one)
	if err != nil {
		return broken(err)
	}
	err = q.DB.WriteOf(ctx, q.account, func(tx *db.Tx) error {
		gone := now.UnixMilli() - requestGoneMS
		if err := tx.Do(`DELETE FROM edge_request WHERE account_id = $1 AND asked_at < $2`, q.account, gone); err != nil {
			return err
		}
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM edge_request WHERE account_id = $1`, q.account)
		if err != nil {
			return err
		}
		failed = nil
		if n >= mostRequests {
			failed = &evaluate.Failure{Kind: evaluate.TooMuch, Phase: phaseBusy,
				Message: fmt.Sprintf("%d queries of the account wait for its edges, which is the most", n)}
			return nil
		}
		tx.OnCommit(func() { q.arrivals.wake(q.account) })
		return tx.Do(`INSERT INTO edge_request (account_id, request_id, edge_id, cluster_name, asked_at, fetched, body, answer)
			VALUES ($1, $2, $3, $4, $5, false, $6, '')`, q.account, one.ID, to.ID, to.Cluster, now.UnixMilli(), string(body))
	})
	if err != nil {
		return broken(err)
	}
	return failed
}

func (q *throughEdge) remove(ctx context.Context, request string) {
	err := q.DB.WriteOf(ctx, q.account, func(tx *db.Tx) error {
		return tx.Do(`DELETE FROM edge_request WHERE account_id = $1 AND request_id = $2`, q.account, request)
	})
	if err != nil { // the next request deletes it
		q.Log.Error("a request to an edge could not be deleted", "account_id", q.account, "error", err)
	}
}

// edgeRequests holds the call of a member until there are requests to it, and returns each of them once.
func (r *Service) edgeRequests(c *api.Call, from *sender, _ *remote.Member) (any, error) {
	err := r.await(c.Ctx, from.account, remote.HoldRequests, func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM edge_request
			WHERE account_id = $1 AND edge_id = $2 AND cluster_name = $3 AND NOT fetched`, from.account, from.ID, from.cluster)
		if err == nil && n == 0 {
			err = errWaiting
		}
		return err
	})
	reply := remote.RequestsReply{Requests: []jsontext.Value{}}
	if errors.Is(err, errWaiting) {
		return reply, nil
	}
	if err != nil {
		return nil, err
	}
	err = r.DB.WriteOf(c.Ctx, from.account, func(tx *db.Tx) error {
		reply.Requests = reply.Requests[:0]
		texts, err := db.All(tx, db.Column[string], `SELECT body FROM edge_request
			WHERE account_id = $1 AND edge_id = $2 AND cluster_name = $3 AND NOT fetched ORDER BY request_id`, from.account, from.ID, from.cluster)
		for _, text := range texts {
			reply.Requests = append(reply.Requests, jsontext.Value(text))
		}
		if err != nil {
			return err
		}
		return tx.Do(`UPDATE edge_request SET fetched = true WHERE account_id = $1 AND edge_id = $2 AND cluster_name = $3 AND NOT fetched`,
			from.account, from.ID, from.cluster)
	})
	return reply, err
}

// edgeAnswer stores the answer of a member to a request. One that no call waits for any more is dropped.
func (r *Service) edgeAnswer(c *api.Call, from *sender, in *remote.AnswerRequest) (any, error) {
	if in.Failed != nil && !kinds[in.Failed.Kind] {
		in.Failed.Kind = evaluate.Invalid
	}
	text, err := remote.Marshal(in)
	if err != nil {
		return nil, err
	}
	return api.Empty{}, r.DB.WriteOf(c.Ctx, from.account, func(tx *db.Tx) error {
		tx.OnCommit(func() { r.arrivals.wake(from.account) })
		return tx.Do(`UPDATE edge_request SET answer = $5 WHERE account_id = $1 AND request_id = $2 AND edge_id = $3 AND cluster_name = $4
			AND answer = ''`, from.account, in.ID, from.ID, from.cluster, string(text))
	})
}
