package app

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
)

// late is how long work may be overdue before the server reports that it is not ready.
const late = time.Minute

// overdue is one kind of due work as it stands.
type overdue struct {
	Work    string  `json:"work"`
	Count   int64   `json:"due"`
	Seconds float64 `json:"oldest_seconds"`
	Held    bool    `json:"held,omitzero"` // it waits because the server is held
}

// unreadable is how many objects of one kind are left out because they cannot be decoded.
type unreadable struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// state is what /health/ready and the metrics show.
type state struct {
	Work       []overdue    `json:"work"`
	Failed     int64        `json:"notices_failed_last_hour"`  // for good
	Untold     int64        `json:"untold_unreached,omitzero"` // incidents and alert keys that reached neither a fallback nor an owner
	Unreadable []unreadable `json:"unreadable,omitempty"`

	Refused []integration.Refusing `json:"events_refused_last_5_minutes,omitempty"`
}

// standing reads the state.
func (a *App) standing(ctx context.Context, now time.Time) (s state, err error) {
	s.Work = []overdue{}
	err = a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		s, err = a.standingIn(tx, now)
		return err
	})
	return s, err
}

func (a *App) standingIn(tx *db.Tx, now time.Time) (s state, err error) {
	s.Work = []overdue{}
	for _, m := range a.Modules {
		if m.Overdue == nil {
			continue
		}
		w, err := m.Overdue(tx, now)
		if err != nil {
			return s, err
		}
		o := overdue{Work: w.Work, Count: w.Count, Held: m.Sends && a.Gate.Reason() != ""}
		if !w.Oldest.IsZero() {
			o.Seconds = max(0, now.Sub(w.Oldest).Seconds())
		}
		s.Work = append(s.Work, o)
	}
	s.Failed, err = notify.FailedSince(tx, now.Add(-time.Hour))
	if err != nil {
		return s, err
	}
	s.Refused, err = integration.RefusedSince(tx, now.Add(-5*time.Minute))
	if err != nil {
		return s, err
	}
	s.Untold, err = untold.Unreached(tx)
	if err != nil {
		return s, err
	}
	left, err := configstore.Unreadable(tx, channel.Unreadable)
	for _, kind := range slices.Sorted(maps.Keys(left)) {
		s.Unreadable = append(s.Unreadable, unreadable{kind, left[kind]})
	}
	return s, err
}

// judge returns in one word how the server is, and what is wrong in words.
func (a *App) judge(s state) (status, problem string) {
	status = "ok"
	var problems []string
	if why := a.outdated.Load(); why != nil {
		status, problems = "failing", append(problems, *why)
	} else if o := worst(s.Work); o.Seconds > late.Seconds() {
		status, problems = "failing", append(problems, fmt.Sprintf("the oldest due %s is %.0f seconds overdue", o.Work, o.Seconds))
	} else if reason := a.Gate.Reason(); reason != "" {
		status, problems = "held", append(problems, reason)
	}
	problems = append(append(problems, a.machine.Problems()...), a.wrongClock())
	return status, strings.Join(slices.DeleteFunc(problems, func(p string) bool { return p == "" }), "; ")
}

// ready answers 200 while no work is overdue for longer than late, and 503 otherwise: then persons are not notified in
// time.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	reply := struct {
		Status  string `json:"status"`
		Version string `json:"version"`
		state
		Held    string `json:"held,omitzero"`
		KeyFile string `json:"key_file,omitzero"`
		Problem string `json:"problem,omitzero"`
	}{Status: "ok", Version: a.Version, state: state{Work: []overdue{}}, Held: a.Gate.Reason(), KeyFile: a.machine.KeyFile()}
	if reply.Held != "" {
		reply.Status = "held"
	}
	now, err := a.standing(r.Context(), a.Clock.Now())
	if err == nil { // a database that can be read may take no writes
		err = a.DB.WriteOf(r.Context(), db.NoAccount, func(*db.Tx) error { return nil })
	}
	status := http.StatusOK
	if err != nil {
		a.Log.Error("readiness", "error", err)
		status = http.StatusServiceUnavailable
		reply.Status = "failing"
		reply.Problem = "the database does not answer, or takes no writes"
		if why := a.tooOld(r.Context()); why != "" {
			reply.Problem = why
		}
	} else {
		reply.state = now
		how, problem := a.judge(now)
		if how == "failing" {
			status, reply.Status = http.StatusServiceUnavailable, how
		}
		reply.Problem = strings.TrimPrefix(strings.TrimPrefix(problem, reply.Held), "; ") // held is a member of its own
	}
	text, err := json.Marshal(reply)
	if err != nil {
		a.Log.Error("readiness", "error", err)
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

// worst returns the kind of work that is overdue for the longest time. What waits because the server is held is not
// overdue.
func worst(all []overdue) (o overdue) {
	for _, each := range all {
		if each.Seconds > o.Seconds && !each.Held {
			o = each
		}
	}
	return o
}

// aliveTask returns a job that calls the alive URL every minute while no work is overdue. It runs among the jobs that it
// reports on: when they stop, it stops as well, and the monitor behind the URL notices.
func (a *App) aliveTask() jobs.Job {
	own := a.everywhere()
	var called time.Time
	return jobs.Job{Name: "alive", Interval: time.Minute, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		if a.Gate.Reason() != "" {
			return time.Time{}, nil // the original's monitor must not take a copy for it
		}
		if next := called.Add(time.Minute); now.Before(next) && !now.Before(called) {
			return next, nil
		}
		s, err := a.standing(ctx, now)
		if err != nil {
			return time.Time{}, err
		}
		if o := worst(s.Work); o.Seconds > late.Seconds() {
			return time.Time{}, fmt.Errorf("the alive URL was not called: the oldest due %s is %.0f seconds overdue", o.Work, o.Seconds)
		}
		answer, err := own.Do(ctx, egress.Request{Method: http.MethodGet, URL: a.Senders.AliveURL})
		if err == nil && answer.Status >= 300 {
			err = fmt.Errorf("the alive URL answered %d", answer.Status)
		}
		if err == nil {
			called = now
		}
		return now.Add(time.Minute), err
	}}
}
