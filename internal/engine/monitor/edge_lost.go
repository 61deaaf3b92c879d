package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// How often the server looks whether clusters have live members, and raises again the alert of a cluster that has none.
const (
	lookAtEdges = 5 * time.Second
	repeatLost  = time.Minute
)

// absences are the clusters without a live member, as this process has seen them. A process that has not looked for a while, as
// after a start, counts from its first look after that: until then no edge could reach it.
type absences struct {
	mu     sync.Mutex
	begun  time.Time // since when this process looks without a break
	looked time.Time
	raised map[group]time.Time // when each alert was raised last; zero: it was ended
}

// edgesJob returns the job that alerts of clusters without a live member.
func (r *Service) edgesJob() jobs.Job {
	return jobs.Job{Name: "edges that are lost", Interval: lookAtEdges, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		return time.Time{}, r.lookAtEdges(ctx, now)
	}}
}

// lookAtEdges raises an alert for each cluster that has watches and had no live member for long, and ends it when one is back.
func (r *Service) lookAtEdges(ctx context.Context, now time.Time) (err error) {
	if r.Held != nil && r.Held() != "" {
		return nil
	}
	a := &r.absences
	a.mu.Lock()
	defer a.mu.Unlock()
	if gap := now.Sub(a.looked); gap < 0 || gap > edge.Lease {
		a.begun = now
	}
	a.looked = now
	var clusters []datasource.ClusterOf
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		clusters, err = datasource.Clusters(tx)
		return err
	})
	present := map[group]bool{}
	for _, one := range clusters { // the clusters of one account must not keep others from their alerts
		g := group{one.Account, one.Name}
		present[g] = true
		err = errors.Join(err, r.lookAtCluster(ctx, g, now))
	}
	for g := range a.raised {
		if !present[g] {
			err = errors.Join(err, r.endLost(ctx, g, now))
			delete(a.raised, g)
		}
	}
	return err
}

func (r *Service) lookAtCluster(ctx context.Context, g group, now time.Time) error {
	var settings edge.Settings
	var members []edge.Member
	var keys map[evaluator.Key]watched
	err := r.DB.Read(db.For(ctx, g.account), func(tx *db.Tx) (err error) {
		settings, err = edge.SettingsOf(tx, g.account, g.cluster)
		if err != nil {
			return err
		}
		keys, err = r.watchedOf(tx, g.account)
		if err != nil {
			return err
		}
		members, err = edge.Members(tx, g.account)
		return err
	})
	if err != nil {
		return err
	}
	members = slices.DeleteFunc(members, func(m edge.Member) bool { return m.Cluster != g.cluster })
	since, blind := r.absences.begun, int64(0)
	for _, m := range members {
		if m.Seen.After(since) {
			since = m.Seen
		}
	}
	for _, w := range keys {
		if w.source.Cluster() == g.cluster {
			blind++
		}
	}
	live := slices.ContainsFunc(members, func(m edge.Member) bool { return m.Live(now) })
	switch {
	case live || blind == 0 || !settings.Enabled:
		return r.endLost(ctx, g, now)
	case now.Sub(since) < time.Duration(settings.LostSeconds)*time.Second:
		return nil
	}
	return r.raiseLost(ctx, g, settings, members, keys, blind, now)
}

func (g group) lostKey() string { return "monit/edges/" + g.cluster }

// raiseLost raises the alert of a cluster, once a minute while it goes on. The alerts of its datasources are
// hidden by it: no one can know whether they answer.
func (r *Service) raiseLost(
	ctx context.Context, g group, settings edge.Settings, members []edge.Member, keys map[evaluator.Key]watched, blind int64, now time.Time,
) error {
	if last := r.absences.raised[g]; !last.IsZero() && now.Sub(last) < repeatLost {
		return nil
	}
	err := r.DB.WriteOf(ctx, g.account, func(tx *db.Tx) error {
		err := r.Own.Raise(tx, selfalert.Alert{
			Account: g.account, Key: g.lostKey(), Channel: settings.ChannelID, Severity: settings.Severity, Lasts: lasts,
			Title:  fmt.Sprintf("The edges of cluster %s are lost: %s", g.cluster, blindRules(blind)),
			Text:   noEdge(g.cluster, members) + ". Alerts that are open stay open, and none can begin, until one is back.",
			Labels: map[string]string{"cluster_name": g.cluster},
		}, now)
		if err != nil {
			return err
		}
		hidden := map[evaluator.Key]bool{}
		for key, w := range keys {
			key.Rule = 0
			if w.source.Cluster() == g.cluster {
				hidden[key] = true
			}
		}
		return r.endUnknown(tx, g.account, func(key evaluator.Key) bool { return hidden[key] }, now)
	})
	if err == nil {
		r.absences.raised[g] = now
	}
	return err
}

func blindRules(n int64) string {
	if n == 1 {
		return "1 rule on a datasource does not see"
	}
	return fmt.Sprintf("%d rules on datasources do not see", n)
}

// endLost ends the alert of a cluster.
func (r *Service) endLost(ctx context.Context, g group, now time.Time) error {
	if ended, known := r.absences.raised[g]; known && ended.IsZero() {
		return nil
	}
	err := r.DB.WriteOf(ctx, g.account, func(tx *db.Tx) error { return r.Own.End(tx, g.account, g.lostKey(), now) })
	if err == nil {
		r.absences.raised[g] = time.Time{}
	}
	return err
}
