package evaluate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestWatchAgreesWithModel compares the watch with the model over random rules, rows, failures, edits, restarts and
// take-overs. TOCSIN_MONITOR_STEPS sets the number of steps and TOCSIN_MONITOR_SEED the seed, which is printed;
// TOCSIN_MONITOR_CASE=n runs the case n alone.
func TestWatchAgreesWithModel(t *testing.T) {
	t.Parallel()
	steps := setting(t, "TOCSIN_MONITOR_STEPS", 6000)
	seed := setting(t, "TOCSIN_MONITOR_SEED", int(rand.Uint32()))
	only := setting(t, "TOCSIN_MONITOR_CASE", -1)
	t.Logf("seed %d, %d steps", seed, steps)
	moves := map[string]int{}
	for n := 0; n*60 < steps; n++ {
		if only >= 0 && n != only {
			continue
		}
		c := &comparison{t: t, random: rand.New(rand.NewPCG(uint64(seed), uint64(n))), moves: moves, verbose: only >= 0}
		if failure := c.run(60); failure != "" {
			t.Fatalf("seed %d case %d: %s\n%s", seed, n, failure, strings.Join(c.log, "\n"))
		}
	}
	if only < 0 {
		for _, check := range []string{CheckThreshold, CheckAnydata, CheckNodata} {
			for _, to := range []To{Begin, Rise, Fall, Repeat, Recovered, Closed} {
				rare := to != Begin && to != Recovered // a few thousand random steps need not have it
				if moves[check+string(to)] == 0 && (!rare || steps >= 100_000) {
					t.Errorf("no %s of %s in the cases", to, check)
				}
			}
		}
		if moves[CheckThreshold+string(Gone)] == 0 && steps >= 100_000 {
			t.Error("no series is gone in the cases")
		}
	}
}

// comparison is one case: a watch beside the model.
type comparison struct {
	t       *testing.T
	random  *rand.Rand
	rule    *modelRule
	watch   *Watch
	model   *model
	at      time.Time
	log     []string
	moves   map[string]int
	verbose bool

	saved      State // an older state, with the model of that moment
	savedModel *model
}

var labelSets = map[string]map[string]string{"a": {"host": "a"}, "b": {"host": "b", "env": "x"}, "-": {}}

func (c *comparison) note(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

func (c *comparison) run(steps int) string {
	r := c.random
	c.model = &model{entries: map[string][]entry{}, open: map[string]modelOpen{}, base: map[string]string{}}
	c.rule = randomRule(r)
	c.at = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	c.renew("")
	c.savedModel = c.model.clone()
	before := State("")
	for range steps {
		c.at = c.at.Add(c.rule.Interval)
		if failure := c.step(); failure != "" {
			return failure
		}
		changed := c.watch.Changed()
		after := c.watch.State()
		if !changed && after != before {
			return fmt.Sprintf("the state changed unnoticed from\n%s\nto\n%s", before, after)
		}
		before = after
		switch n := r.IntN(30); {
		case n < 4:
			c.note("restart")
			c.renew(after)
		case n == 4:
			c.rule = randomEdit(r, c.rule)
			c.note("edit: %+v", flat(c.rule.Config))
			c.renew(after)
			before = c.watch.State()
		case n == 5:
			c.takeOver()
			before = c.watch.State()
		case n < 12:
			c.saved = after
			c.savedModel = c.model.clone()
		}
	}
	return ""
}

func (c *comparison) renew(state State) {
	w, err := New(c.rule.Rule, state)
	if err != nil {
		c.t.Fatalf("%v\n%s", err, state)
	}
	if again := w.State(); state != "" && again != state && c.model.judged && sameQueries(w) {
		c.t.Fatalf("the state\n%s\nis read as\n%s", state, again)
	}
	c.watch = w
}

func sameQueries(w *Watch) bool { return w.config.Queries == w.current.Queries }

// takeOver goes on from an older state with what is open now.
func (c *comparison) takeOver() {
	var open []Instance
	for _, i := range c.watch.Instances() {
		if i.Firing {
			open = append(open, i)
		}
	}
	c.note("take-over with %d open", len(open))
	c.renew(c.saved)
	c.watch.Adopt(open)
	older := c.savedModel.clone()
	older.adopt(c.model)
	if !strings.Contains(string(c.saved), `"i":`) { // what a state was judged by is in it with its instances alone
		older.config = c.rule.Config
		older.judged = true
	}
	c.model = older
}

func (c *comparison) step() string {
	r := c.random
	answers, rows, fails := c.answers()
	c.note("%s %v failed %t", c.at.Format("02 15:04:05"), rows, fails)
	unsure := c.watch.Instances()
	got := c.watch.Step(c.at, answers)
	if fails {
		if got.Outcome.Known || len(got.Transitions)+len(got.Ask) > 0 {
			return fmt.Sprintf("a failed query makes %+v", got)
		}
		if fmt.Sprint(shown(unsure)) != fmt.Sprint(shown(c.watch.Instances())) {
			return "a failed query changes instances"
		}
		return c.outcome(got.Outcome)
	}
	replies := map[string]int{}
	failed := false
	if len(got.Ask) > 0 {
		var replied []Answer
		for _, ask := range got.Ask {
			reply := pick(r, -1, 0, 0, 1, 1, 1)
			replies[ask.Check+"/"+setOf(ask.Instance)] = reply
			switch reply {
			case -1:
				failed = true
				replied = append(replied, Answer{Failed: &Failure{Kind: Timeout}})
			case 0:
				replied = append(replied, Answer{})
			default:
				replied = append(replied, Answer{Rows: []Row{{}}})
			}
		}
		c.note("recovery queries: %v", replies)
		got = c.watch.Answered(c.at, replied)
	}
	asked := map[string]bool{}
	want := c.model.step(c.rule, c.at.UnixMilli(), rows, func(id string) int {
		asked[id] = true
		return replies[id]
	})
	if len(asked) != len(replies) {
		return fmt.Sprintf("asked %v, the model asks %v", replies, asked)
	}
	var made []move
	for _, x := range got.Transitions {
		made = append(made, move{x.Check + "/" + setOf(x.Key), x.To, int(severityOf(x.From)), int(severityOf(x.Severity))})
		c.moves[x.Check+string(x.To)]++
		if len(x.Why) == 0 {
			return fmt.Sprintf("%v has no reason", x)
		}
	}
	byID := func(a, b move) int { return strings.Compare(a.id, b.id) }
	slices.SortFunc(made, byID)
	slices.SortFunc(want, byID)
	if fmt.Sprint(made) != fmt.Sprint(want) {
		return fmt.Sprintf("the watch makes %v, the model %v", made, want)
	}
	c.note("%v", made)
	if failure := c.compareInstances(); failure != "" {
		return failure
	}
	if failed {
		return c.outcome(got.Outcome)
	}
	c.model.since = 0
	if !got.Outcome.Known {
		return fmt.Sprintf("the outcome is %+v", got.Outcome)
	}
	return ""
}

// outcome compares what is not known.
func (c *comparison) outcome(o Outcome) string {
	if c.model.since == 0 {
		c.model.since = c.at.UnixMilli()
	}
	after := max(3*c.rule.Interval, 2*time.Minute)
	if s := c.rule.Config.UnknownAfterSeconds; s > 0 {
		after = time.Duration(s) * time.Second
	}
	want := c.at.Sub(time.UnixMilli(c.model.since)) >= after
	if o.Known || o.Unknown != want || o.Since.UnixMilli() != c.model.since {
		return fmt.Sprintf("the outcome is %+v, since %d, unknown %t wanted", o, c.model.since, want)
	}
	return ""
}

// shown returns instances as text.
func shown(all []Instance) []string {
	var texts []string
	for _, i := range all {
		text := fmt.Sprintf("%s/%s pending %d", i.Check, setOf(i.Key), i.Count)
		if i.Firing {
			text = fmt.Sprintf("%s/%s %s since %d", i.Check, setOf(i.Key), i.Severity, i.Since.UnixMilli())
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}

func (c *comparison) compareInstances() string {
	var want []string
	for id := range c.model.union() {
		if o, ok := c.model.open[id]; ok {
			want = append(want, fmt.Sprintf("%s %s since %d", id, severity(o.severity), o.since))
			continue
		}
		run := 0
		list := c.model.entries[id]
		for run < len(list) && list[len(list)-1-run].severity > 0 {
			run++
		}
		if run > 0 {
			want = append(want, fmt.Sprintf("%s pending %d", id, run))
		}
	}
	slices.Sort(want)
	if got := shown(c.watch.Instances()); fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Sprintf("the watch has %v, the model %v", got, want)
	}
	return ""
}

// setOf returns the name of the label set with a key.
func setOf(key string) string {
	for name, labels := range labelSets {
		if Key(labels) == key {
			return name
		}
	}
	return "?" + key
}

// answers returns random answers in both forms.
func (c *comparison) answers() ([]Answer, known, bool) {
	r := c.random
	rows := known{}
	fails := false
	var answers []Answer
	for _, q := range c.rule.Config.Queries {
		answer := Answer{Query: q.Name}
		if r.IntN(12) == 0 {
			answer.Failed = &Failure{Kind: pick(r, Timeout, Partial, Unreachable), Message: "it failed"}
			fails = true
		}
		for _, name := range []string{"a", "b", "-"} {
			if r.IntN(4) == 0 {
				continue
			}
			v := pick(r, 10.0, 50, 75, 95, 95, 99, math.NaN())
			answer.Rows = append(answer.Rows, Row{Labels: labelSets[name], Values: Values{{Number: v}}})
			if rows[name] == nil {
				rows[name] = map[string]float64{}
			}
			rows[name][q.Name] = v
		}
		answers = append(answers, answer)
	}
	return answers, rows, fails
}

func randomTerm(r *rand.Rand, depth int, queries string) *term {
	if depth > 0 && r.IntN(2) == 0 {
		op := pick(r, "and", "or", "not")
		t := &term{op: op, left: randomTerm(r, depth-1, queries)}
		if op != "not" {
			t.right = randomTerm(r, depth-1, queries)
		}
		return t
	}
	return &term{op: pick(r, ">", "<="), query: string(queries[r.IntN(len(queries))]), number: pick(r, 20.0, 60, 80, 97)}
}

func randomCounts(r *rand.Rand) Counts {
	return Counts{Enabled: r.IntN(5) > 0, AlertingCheckTimes: pick(r, int64(0), 1, 2, 3), RecoveryCheckTimes: pick(r, int64(0), 1, 2, 3)}
}

func randomRule(r *rand.Rand) *modelRule {
	rule := &modelRule{Rule: Rule{ID: 7, Interval: pick(r, time.Minute, time.Hour, 24*time.Hour), Zone: time.FixedZone("x", 8*3600)}}
	if r.IntN(2) == 0 {
		rule.RepeatInterval = pick(r, time.Minute, 2*time.Hour)
		rule.RepeatTotal = pick(r, int64(0), 2)
	}
	if r.IntN(3) == 0 {
		rule.Windows = []Window{{Days: []int64{1, 2, 3, 6}, Stime: pick(r, "00:00", "06:30", "22:00"), Etime: pick(r, "06:30", "12:00", "24:00")}}
	}
	queries := pick(r, "A", "AB")
	rule.configure(r, queries)
	return rule
}

// configure makes a random configuration of the rule.
func (rule *modelRule) configure(r *rand.Rand, queries string) {
	c := Config{UnknownAfterSeconds: pick(r, int64(0), 60, 90000)}
	for _, name := range queries {
		c.Queries = append(c.Queries, Query{Name: string(name), Expr: pick(r, "up", "down")})
	}
	if r.IntN(3) > 0 {
		t := &Threshold{Counts: randomCounts(r), Missing: pick(r, "", "", "keep")}
		rule.exprs = [4]*term{}
		for s := 1; s < 4; s++ {
			if s == 2 || r.IntN(3) > 0 {
				rule.exprs[s] = randomTerm(r, 2, queries)
			}
		}
		text := func(s int) string {
			if rule.exprs[s] == nil {
				return ""
			}
			return rule.exprs[s].String()
		}
		t.Info = text(1)
		t.Warning = text(2)
		t.Critical = text(3)
		t.Recovery.Mode = pick(r, "", "invert", "threshold", "ql")
		switch t.Recovery.Mode {
		case "threshold":
			rule.recovery = randomTerm(r, 1, queries)
			t.Recovery.Condition = rule.recovery.String()
		case "ql":
			t.Recovery.Condition = "recovered{host=\"${host}\"}"
		}
		c.CheckThreshold = t
	}
	if r.IntN(3) == 0 {
		c.CheckAnydata = &Anydata{Counts: randomCounts(r), Severity: pick(r, "Info", "Warning", "Critical"),
			Recovery: Recovery{Mode: pick(r, "", "nodata", "ql")}}
	}
	if r.IntN(3) == 0 {
		c.CheckNodata = &Nodata{Counts: randomCounts(r), Severity: pick(r, "Info", "Warning", "Critical"),
			ResolveTimeout: pick(r, int64(0), 600, 20000, 400000)}
	}
	rule.Config = c
}

// randomEdit returns a changed rule. Some changes leave its queries as they are, and some all that is judged.
func randomEdit(r *rand.Rand, old *modelRule) *modelRule {
	edited := *old
	edited.Revision++
	switch r.IntN(4) {
	case 0:
		edited.Windows = nil
		edited.RepeatInterval = time.Hour
	case 1:
		queries := edited.Config.Queries
		names := ""
		for _, q := range queries {
			names += q.Name
		}
		edited.configure(r, names)
		edited.Config.Queries = queries
	default:
		edited.configure(r, pick(r, "A", "AB"))
	}
	return &edited
}
