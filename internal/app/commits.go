package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/platform/db"
)

// slowCommit is how long a commit of the embedded engine takes that is logged: all other writers wait for it. Those of a busy
// machine are many, so one line is for all that follow it within a time.
const (
	slowCommit      = 250 * time.Millisecond
	slowCommitEvery = 10 * time.Second
)

// watchCommits counts the commits of the database, and logs slow ones with their cause: begin waits for another process,
// run for a processor or for pages that are read, commit for the disk.
func (a *App) watchCommits() {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tocsin_commit_seconds", Help: "Transactions that write, by part: begin, run and commit. With PostgreSQL without incoming events.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
	}, []string{"part"})
	a.metrics.MustRegister(seconds)
	begin := seconds.WithLabelValues("begin")
	run := seconds.WithLabelValues("run")
	commit := seconds.WithLabelValues("commit")
	var logged time.Time // by the one lane of the embedded engine
	a.DB.WatchCommits(func(c *db.Commit) {
		begin.Observe(c.Begun.Sub(c.Began).Seconds())
		run.Observe(c.Ran.Sub(c.Begun).Seconds())
		commit.Observe(c.Ended.Sub(c.Ran).Seconds())
		if !a.DB.Shared() && c.Ended.Sub(c.Began) > slowCommit && c.Ended.Sub(logged) > slowCommitEvery {
			logged = c.Ended
			a.Log.Warn("a commit was slow", "begin", c.Begun.Sub(c.Began), "run", c.Ran.Sub(c.Begun), "commit", c.Ended.Sub(c.Ran),
				"writes", c.Writes(), "functions", c.Functions())
		}
	})
}
