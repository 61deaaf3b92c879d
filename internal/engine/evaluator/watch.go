package evaluator

import (
	"hash/fnv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/evaluate"
)

// watch is a watch of this evaluator, which may have ten thousand: its small members stand together.
type watch struct {
	Watch

	// Guarded by the lock of the evaluator.
	moment  time.Time // of the next evaluation, on the grid of its schedule
	at      time.Time // when it begins
	place   int       // in byMoment; -1: it is not there
	waits   bool      // it is evaluated, or waits for a place
	dropped bool      // it is evaluated here no more
	known   bool      // it was reported
	behind  bool      // the center may have others open, so its slot has no digest
	planned *Watch    // its configuration was changed: the next evaluation applies it
	source  *source
	flights []*flight     // of its queries, while it waits or is evaluated
	texts   []string      // of its queries: equal ones have equal texts
	offset  time.Duration // of its grid
	last    WatchState    // as it was reported last
	epoch   int64
	digest  uint64 // of what is open

	mu      sync.Mutex // held while it is evaluated
	core    *evaluate.Watch
	unsaved bool         // its state could not be stored
	apart   bool         // what the center has open is asked before anything is sent
	unsent  *Batch       // was not stored yet
	recent  []Evaluation // without a journal
	empty   int          // known evaluations in a row without a row
}

// Evaluation is one evaluation, as it is shown.
type Evaluation struct {
	At      time.Time
	Took    time.Duration
	Rows    int
	Missed  int      // moments before it that were left out, because it was late
	Outcome string   // known, or the kind of the failure
	Largest *float64 // value; nil: there was none
}

// keptEvaluations is how many evaluations of a watch are kept.
const keptEvaluations = 60

// mostSpread bounds how long after its moment a watch with a pattern of cron is evaluated.
const mostSpread = 15 * time.Second

// configure sets the configuration. Rules with equal queries fall together, so that the datasource is asked once.
func (w *watch) configure(c Watch) {
	w.Watch = c
	w.texts = w.texts[:0]
	for _, q := range c.Rule.Config.Queries {
		w.texts = append(w.texts, textOf(q))
	}
	h := fnv.New64a()
	for _, text := range w.texts {
		_, _ = h.Write([]byte(text)) // never fails
	}
	within := c.Schedule.Every
	if within == 0 {
		within = min(c.Rule.Interval/5, mostSpread)
	}
	w.offset = 0
	if within > 0 {
		w.offset = time.Duration((h.Sum64() ^ c.Source.ID*0x9e3779b97f4a7c15) % uint64(within))
	}
}

// textOf returns a text that is equal for queries that have equal answers.
func textOf(q evaluate.Query) string {
	q.Name = ""
	text, err := json.Marshal(q, json.Deterministic(true))
	if err != nil { // no query is like this one
		return ""
	}
	return string(text)
}

// nextMoment returns the first moment after one, and when its evaluation begins. Moments of @every are on a grid that the watch's
// queries shift. Patterns of cron keep their moments, and begin a little later.
func (w *watch) nextMoment(after time.Time) (moment, at time.Time) {
	if w.Schedule.Every > 0 {
		moment = w.Schedule.Next(after.Add(-w.offset)).Add(w.offset)
		return moment, moment
	}
	zone := w.Rule.Zone
	if zone == nil {
		zone = time.UTC
	}
	moment = w.Schedule.Next(after.In(zone))
	if moment.IsZero() { // never again within years
		moment = after.AddDate(1, 0, 0)
	}
	return moment, moment.Add(w.offset)
}

// mostSkipped bounds how many moments of a pattern of cron are counted as missed at once.
const mostSkipped = 1000

// catchUp returns the newest moment that is not later than now, and how many moments before it are missed. A watch that is late
// by no more than an interval is not moved.
func (w *watch) catchUp(now time.Time) (moment time.Time, missed int) {
	moment = w.moment
	if now.Sub(w.at) <= w.Rule.Interval {
		return moment, 0
	}
	if every := w.Schedule.Every; every > 0 {
		n := now.Sub(moment) / every
		return moment.Add(n * every), int(n)
	}
	for ; missed < mostSkipped; missed++ {
		next, at := w.nextMoment(moment)
		if at.After(now) {
			return moment, missed
		}
		moment = next
	}
	first, _ := w.nextMoment(now.Add(-w.Rule.Interval - w.offset))
	return first, missed
}

// note keeps an evaluation for those who look.
func (w *watch) note(e Evaluation) {
	if len(w.recent) == keptEvaluations {
		copy(w.recent, w.recent[1:])
		w.recent = w.recent[:keptEvaluations-1]
	}
	w.recent = append(w.recent, e)
}
