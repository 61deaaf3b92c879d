package monitor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
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
	mu     sync.Mutex // of the moments
	begun  time.Time  // since when this process is in reach without a break
	looked time.Time
	raised map[group]time.Time // when each alert was raised last; zero: it was ended. The job alone uses it
}

// look notes that this process is in reach, and returns since when it has been without a break.
func (a *absences) look(now time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.looked).Abs() > edge.Lease { // calls and the job look in any order
		a.begun = now
	}
	a.looked = now
	return a.begun
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
	begun := a.look(now)
	var clusters []datasource.ClusterOf
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		clusters, err = datasource.Clusters(tx)
		return err
	})
	present := map[group]bool{}
	for _, one := range clusters { // the clusters of one account must not keep others from their alerts
		g := group{one.Account, one.Name}
		present[g] = true
		err = errors.Join(err, r.lookAtCluster(ctx, g, begun, now))
	}
	for g := range a.raised {
		if !present[g] {
			err = errors.Join(err, r.endLost(ctx, g, now))
			delete(a.raised, g)
		}
	}
	return err
}

// loss is what is known of a cluster that may be lost.
type loss struct {
	group
	settings edge.Settings
	members  []edge.Member // that count
	others   []string      // live members that do not, by name
	since    time.Time     // when one that counts was in touch last
	watches  map[evaluator.Key]watched
}

func (r *Service) lookAtCluster(ctx context.Context, g group, begun, now time.Time) error {
	l := loss{group: g, since: begun}
	err := r.DB.Read(db.For(ctx, g.account), func(tx *db.Tx) error { return l.read(tx, r, now) })
	if err != nil {
		return err
	}
	live := false
	for _, m := range l.members {
		live = live || m.Live(now)
		if m.Seen.After(l.since) {
			l.since = m.Seen
		}
	}
	switch {
	case live || len(l.watches) == 0 || !l.settings.Enabled:
		return r.endLost(ctx, g, now)
	case now.Sub(l.since) < l.after():
		return nil
	}
	return r.raiseLost(ctx, &l, now)
}

func (l *loss) read(tx *db.Tx, r *Service, now time.Time) (err error) {
	l.settings, err = edge.SettingsOf(tx, l.account, l.cluster)
	if err != nil {
		return err
	}
	l.watches, err = r.watchedOf(tx, l.account)
	if err != nil {
		return err
	}
	maps.DeleteFunc(l.watches, func(_ evaluator.Key, w watched) bool { return w.source.Cluster() != l.cluster })
	all, err := clustersAt(tx, l.account, now)
	l.members, l.others = nil, nil
	for _, m := range all.all[l.cluster] {
		switch {
		case l.settings.Counts(m.Name):
			l.members = append(l.members, m)
		case m.Live(now):
			l.others = append(l.others, m.Name)
		}
	}
	return err
}

// after returns for how long no member is in touch until the cluster is lost.
func (l *loss) after() time.Duration { return time.Duration(l.settings.LostSeconds) * time.Second }

func (g group) lostKey() string { return "monit/edges/" + g.cluster }

// alert returns the alert of a cluster at a moment.
func (l *loss) alert(now time.Time) selfalert.Alert {
	a := selfalert.Alert{
		Account: l.account, Key: l.lostKey(), Channel: l.settings.ChannelID, Severity: l.settings.Severity, Lasts: l.after() + lasts,
		Title:  fmt.Sprintf("The edges of cluster %s are lost: %s", l.cluster, blindRules(len(l.watches))),
		Text:   noEdge(l.cluster, l.members) + ". Alerts that are open stay open, and none can begin, until one is back.",
		Labels: map[string]string{"cluster_name": l.cluster},
		Repeat: min(l.settings.Times-1, int64((now.Sub(l.since)-l.after())/time.Second)/l.settings.Every),
	}
	if len(l.others) > 0 {
		others := strings.Join(l.others, ", ")
		a.Title = fmt.Sprintf("The edges of cluster %s are lost but %s", l.cluster, others)
		a.Text = fmt.Sprintf("Its rules are evaluated by %s, which the settings of the cluster do not count, until another is back.", others)
	}
	return a
}

// raiseLost raises the alert of a cluster, once a minute while it goes on. The alerts of its datasources and rules are hidden by it:
// no one can know whether they answer. Members report them again when they are back.
func (r *Service) raiseLost(ctx context.Context, l *loss, now time.Time) error {
	if last := r.absences.raised[l.group]; !last.IsZero() && now.Sub(last) < repeatLost {
		return nil
	}
	hidden := map[uint64]bool{}
	for key := range l.watches {
		hidden[key.Datasource] = len(l.others) == 0
	}
	err := r.DB.WriteOf(ctx, l.account, func(tx *db.Tx) error {
		if err := r.Own.Raise(tx, l.alert(now), now); err != nil {
			return err
		}
		return r.endUnknown(tx, l.account, func(key evaluator.Key) bool { return hidden[key.Datasource] }, r.Own.Hide, now)
	})
	if err == nil {
		r.absences.raised[l.group] = now
	}
	return err
}

func blindRules(n int) string {
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
