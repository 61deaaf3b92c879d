package evaluate

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) // a Monday

// bench is a watch with its clock, which goes on by a minute with each answer.
type bench struct {
	t    testing.TB
	rule Rule
	*Watch
	at    time.Time
	reply string // of recovery queries, as in answer
	asks  []Question
	last  Result
}

func newBench(t testing.TB, rule Rule) *bench {
	t.Helper()
	for n := range rule.Config.Queries {
		rule.Config.Queries[n].Expr = "up"
	}
	if rule.Interval == 0 {
		rule.Interval = time.Minute
	}
	if err := Check(rule.Config); err != nil {
		t.Fatal(err)
	}
	w, err := New(rule, "")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, rule: rule, Watch: w, at: start}
}

// answer reads the answer of a query: "a=1 b=NaN c" has three rows, that of c without a value; "!timeout" is a failure,
// and "a=1 !cut" an answer that was cut behind a.
func answer(query, text string) Answer {
	if kind, failed := strings.CutPrefix(text, "!"); failed {
		return Answer{Query: query, Failed: &Failure{Kind: Kind(kind), Message: "it did not answer"}}
	}
	a := Answer{Query: query}
	for _, field := range strings.Fields(text) {
		if field == "!cut" {
			a.Failed = &Failure{Kind: TooMuch, Cut: true, Message: "it was cut"}
			continue
		}
		host, value, valued := strings.Cut(field, "=")
		row := Row{Labels: map[string]string{"host": host}}
		if valued {
			f, err := strconv.ParseFloat(value, 64)
			if err != nil {
				panic(err)
			}
			row.Values = Values{{Number: f}}
		}
		a.Rows = append(a.Rows, row)
	}
	return a
}

// step evaluates the answers of the queries, joined by semicolons, and returns the transitions in short.
func (b *bench) step(text string) string {
	var answers []Answer
	for n, part := range strings.Split(text, ";") {
		answers = append(answers, answer(b.rule.Config.Queries[n].Name, part))
	}
	b.last = b.Step(b.at, answers)
	b.asks = b.last.Ask
	if len(b.asks) > 0 {
		var replies []Answer
		for range b.asks {
			replies = append(replies, answer("", b.reply))
		}
		b.last = b.Answered(b.at, replies)
	}
	b.at = b.at.Add(b.rule.Interval)
	var all []string
	for _, x := range b.last.Transitions {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", x.Labels["host"], x.To, x.Severity)))
	}
	return strings.Join(all, ", ")
}

// steps evaluates one answer after the other and compares the transitions of each.
func (b *bench) steps(pairs ...string) {
	b.t.Helper()
	for n := 0; n < len(pairs); n += 2 {
		if got := b.step(pairs[n]); got != pairs[n+1] {
			b.t.Errorf("answer %d, %q: %q, want %q", n/2+1, pairs[n], got, pairs[n+1])
		}
	}
}

// edit goes on with a changed rule.
func (b *bench) edit(change func(*Rule)) {
	b.t.Helper()
	text, err := json.Marshal(b.rule.Config)
	if err != nil {
		b.t.Fatal(err)
	}
	var copied Config
	if err := json.Unmarshal(text, &copied); err != nil {
		b.t.Fatal(err)
	}
	b.rule.Config = copied
	change(&b.rule)
	w, err := New(b.rule, b.State())
	if err != nil {
		b.t.Fatal(err)
	}
	b.Watch = w
}

// why returns the reasons of the only transition of the last step.
func (b *bench) why() string {
	b.t.Helper()
	if len(b.last.Transitions) != 1 {
		b.t.Fatalf("%d transitions", len(b.last.Transitions))
	}
	var all []string
	for _, s := range b.last.Transitions[0].Why {
		all = append(all, s.English())
	}
	return strings.Join(all, "; ")
}

func times(begin, end int64) Counts {
	return Counts{Enabled: true, AlertingCheckTimes: begin, RecoveryCheckTimes: end}
}

func thresholdRule(begin, end int64, change func(*Threshold)) Rule {
	t := &Threshold{Counts: times(begin, end), Critical: "$A > 90", Warning: "$A > 70"}
	if change != nil {
		change(t)
	}
	return Rule{Config: Config{Queries: []Query{{Name: "A"}}, CheckThreshold: t}}
}

func anydataRule(begin, end int64, change func(*Anydata)) Rule {
	a := &Anydata{Counts: times(begin, end), Severity: "Warning"}
	if change != nil {
		change(a)
	}
	return Rule{Config: Config{Queries: []Query{{Name: "A"}}, CheckAnydata: a}}
}

func nodataRule(begin, end, timeout int64) Rule {
	return Rule{Config: Config{Queries: []Query{{Name: "A"}},
		CheckNodata: &Nodata{Counts: times(begin, end), Severity: "Critical", ResolveTimeout: timeout}}}
}

// TestThreshold is BEGIN_AT, FALL_TO and rises: what n answers reach begins and rises, what k are below falls.
func TestThreshold(t *testing.T) {
	t.Parallel()
	b := newBench(t, thresholdRule(3, 2, nil))
	b.steps("a=80", "", "a=80", "", "a=95", "a begin Warning")
	if got := b.why(); got != `"$A > 90" holds: 95 > 90; Warning or worse in the last 3 answers` {
		t.Error(got)
	}
	b.steps("a=95", "", "a=95", "a rise Critical")
	b.steps("a=80", "", "a=95", "", "a=80", "", "a=50", "a fall Warning")
	if got := b.why(); got != `"$A > 90" does not hold: 50 > 90; below Critical in the last 2 answers` {
		t.Error(got)
	}
	b.steps("a=50", "a recovered Warning")
	if got := b.why(); !strings.HasSuffix(got, "no severity holds; recovered in the last 2 answers") {
		t.Error(got)
	}
	x := b.last.Transitions[0]
	if !x.Since.Equal(start.Add(2*time.Minute)) || *x.Value != 50 || x.From != "Warning" || x.Query != "A" || x.Key != Key(map[string]string{"host": "a"}) {
		t.Errorf("%+v", x)
	}
	if state := b.State(); state != "" {
		t.Errorf("a quiet watch has the state %s", state)
	}
}

// TestFallNeedsSeverity has answers between the severities and the recovery.
func TestFallNeedsSeverity(t *testing.T) {
	t.Parallel()
	b := newBench(t, thresholdRule(1, 2, func(t *Threshold) { t.Recovery = Recovery{Mode: "threshold", Condition: "$A < 20"} }))
	b.steps("a=95", "a begin Critical", "a=50", "", "a=50", "", "a=50", "", "a=80", "a fall Warning", "a=10", "", "a=50", "", "a=10", "",
		"a=10", "a recovered Warning")
	if got := b.why(); got != `"$A < 20" holds: 10 < 20; the recovery condition holds; recovered in the last 2 answers` {
		t.Error(got)
	}
}

// TestRuns keeps the runs of recovered and gone apart.
func TestRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, thresholdRule(1, 2, nil))
	b.steps("a=95", "a begin Critical", "a=1", "", "", "", "a=1", "", "", "", "a=1", "", "!timeout", "", "a=1", "a recovered Critical")
	b = newBench(t, thresholdRule(1, 1, nil))
	b.steps("a=95", "a begin Critical", "", "", "!partial", "", "", "a gone Critical")
	if got := b.why(); got != "the series is missing in the answer; missing in the last 2 answers" {
		t.Error(got)
	}
}

// TestCutAnswers begins and raises what an answer shows that was cut, and ends nothing.
func TestCutAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t, anydataRule(1, 1, nil))
	b.steps("a !cut", "a begin Warning", "b !cut", "b begin Warning", "c !cut", "c begin Warning", "b", "a recovered Warning, c recovered Warning")
	b = newBench(t, anydataRule(1, 1, nil))
	if b.step("a b") == "" || b.step("b !cut") != "" || b.last.Outcome.Known || b.last.Outcome.Kind != TooMuch {
		t.Errorf("%+v", b.last.Outcome)
	}
	b = newBench(t, thresholdRule(1, 1, nil))
	b.steps("a=85", "a begin Warning", "a=1 !cut", "", "a=95 b=1 !cut", "a rise Critical", "b=1 !cut", "", "b=1 !cut", "", "a=1", "a recovered Critical")
	b = newBench(t, nodataRule(1, 1, 0))
	b.steps("a=1 b=1 !cut", "", "a=1 !cut", "", "a=1", "b begin Critical", "b=1 !cut", "b recovered Critical")
}

func TestMissingValues(t *testing.T) { // KLEENE
	t.Parallel()
	rule := func(critical string) Rule {
		return Rule{Config: Config{Queries: []Query{{Name: "A"}, {Name: "B"}},
			CheckThreshold: &Threshold{Counts: times(1, 1), Critical: critical, Recovery: Recovery{Mode: "threshold", Condition: "$A < 95 or $B < 5"}}}}
	}
	b := newBench(t, rule("$A > 90 or $B > 90"))
	b.steps("a=99;a=NaN", "a begin Critical", "a=93;", "", "a=50;", "", "a=50;a=50", "a recovered Critical")
	b = newBench(t, rule("$A > 90 and $B > 90"))
	b.steps("a=99;", "", "a=99;a=99", "a begin Critical", ";a=50", "", ";a=1", "a recovered Critical")
	b = newBench(t, rule("$A > 90 and $B > 90"))
	b.steps("a=99;a=99", "a begin Critical", ";a=99", "", ";a=99", "a gone Critical")
}

func TestValues(t *testing.T) { // VALUES
	t.Parallel()
	b := newBench(t, thresholdRule(1, 1, func(t *Threshold) { t.Critical, t.Warning = "$A - $A == 0", "" }))
	b.steps("a=5", "a begin Critical", "a=Inf", "", "a=NaN", "a gone Critical")
	b = newBench(t, anydataRule(1, 1, nil))
	b.steps("a=NaN b", "a begin Warning, b begin Warning", "", "a recovered Warning, b recovered Warning")
	b = newBench(t, nodataRule(1, 1, 0))
	b.steps("a=1 b", "", "a=NaN b", "a begin Critical", "a=1 b", "a recovered Critical")
}

// TestInvalid has answers that cannot be judged: nothing changes.
func TestInvalid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2049)
	many := map[string]string{}
	for n := range 51 {
		many[strconv.Itoa(n)] = ""
	}
	row := func(field, text string) Row { return Row{Fields: map[string]string{field: text}} }
	for name, c := range map[string]struct {
		rows []Row
		want string
	}{
		"twice":       {answer("A", "a=1 b=2 a=3").Rows, `query A returned two rows with the labels {host="a"}`},
		"long label":  {[]Row{{Labels: map[string]string{"k": long}}}, `label "k" of query A is longer than 128 bytes, or its value than 2048`},
		"many labels": {[]Row{{Labels: many}}, "a row of query A has 51 labels, more than 50"},
		"text":        {[]Row{row("v", "up"), {Labels: map[string]string{"x": "y"}, Fields: map[string]string{"v": "down"}}}, "$A.v has no number in any row: the column is a text"},
		"no column":   {[]Row{{Values: Values{{"w", 1}, {"x", 2}}}}, "$A.v has no number in any row: its query has no such column"},
	} {
		rule := thresholdRule(1, 1, func(t *Threshold) { t.Critical, t.Warning = "$A.v > 90", "" })
		b := newBench(t, rule)
		b.last = b.Step(b.at, []Answer{{Query: "A", Rows: c.rows}})
		if o := b.last.Outcome; o.Known || o.Kind != Invalid || o.Message != c.want {
			t.Errorf("%s: %+v", name, o)
		}
	}
	b := newBench(t, thresholdRule(1, 1, nil))
	o := b.Step(b.at, []Answer{{Query: "A", Rows: []Row{{Values: Values{{"v", 1}, {"w", 2}}}}}}).Outcome
	if o.Message != "$A has no number in any row: its query has several values; name one of them" {
		t.Errorf("%+v", o)
	}
	if o := b.Step(b.at, nil).Outcome; o.Known || o.Message != "query A was not asked" {
		t.Errorf("%+v", o)
	}
	rule := thresholdRule(1, 1, func(t *Threshold) { t.Critical, t.Warning = "$A.v > 90", "" })
	rule.Config.Queries[0].ValueFields = []string{"v"}
	b = newBench(t, rule)
	for _, values := range []Values{{{"v", 95}}, {{"", 95}}, {{"v", math.NaN()}}} {
		if o := b.Step(b.at, []Answer{{Query: "A", Rows: []Row{{Values: values}}}}).Outcome; !o.Known {
			t.Errorf("%v: %+v", values, o)
		}
	}
}

func TestBack(t *testing.T) { // BACK
	t.Parallel()
	b := newBench(t, nodataRule(2, 3, 0))
	b.steps("a=1 b=1", "", "b=1", "", "b=1", "a begin Critical")
	if got := b.why(); got != "the series is missing in the answer; missing in the last 2 answers" {
		t.Error(got)
	}
	b.steps("a=1 b=1", "", "b=1", "", "a=1 b=1", "", "a=1 b=1", "", "a=1 b=1", "a recovered Critical")
	if got := b.why(); got != "the series is back; recovered in the last 3 answers" {
		t.Error(got)
	}
	b.steps("", "", "a=1 b=1", "", "", "", "", "a begin Critical, b begin Critical")
}

// TestOneOfTwoSeriesIsMissing has a series in the answers of two queries, of which one loses it.
func TestOneOfTwoSeriesIsMissing(t *testing.T) {
	t.Parallel()
	rule := nodataRule(1, 1, 0)
	rule.Config.Queries = []Query{{Name: "B"}, {Name: "A"}}
	b := newBench(t, rule)
	b.steps("a=1 b=1;a=1", "", "a=1 b=1;", "a begin Critical", "a=1 b=1;a=1", "a recovered Critical")
	if b.last.Transitions[0].Query != "A" { // KEY
		t.Error(b.last.Transitions[0].Query)
	}
}

// TestWindow lets instances begin within the hours alone, on the clock of the rule's zone.
func TestWindow(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	rule := thresholdRule(2, 1, nil)
	rule.Zone = zone
	rule.Windows = []Window{{Days: []int64{6}, Stime: "22:00", Etime: "03:00"}} // Saturday night, with the change of the clock
	b := newBench(t, rule)
	b.at = time.Date(2026, 3, 28, 21, 58, 0, 0, zone)
	b.steps("a=95", "", "a=95", "", "a=95", "a begin Critical", "a=1", "a recovered Critical")
	b.at = time.Date(2026, 3, 29, 1, 57, 0, 0, zone)
	b.steps("a=95", "", "a=95", "a begin Critical", "a=80", "a fall Warning", "a=95", "", "a=95", "a rise Critical", "a=1", "a recovered Critical")
	b.steps("a=95", "", "a=95", "", "a=95", "")
	b.at = time.Date(2026, 4, 4, 22, 0, 0, 0, zone)
	b.steps("a=95", "a begin Critical")
	whole, err := parseWindows([]Window{{Days: []int64{1}, Stime: "00:00", Etime: "23:59"}})
	if err != nil {
		t.Fatal(err)
	}
	w := &Watch{windows: whole, rule: Rule{Zone: time.UTC}}
	for at, want := range map[string]bool{"2026-03-02 00:00": true, "2026-03-02 23:59": true, "2026-03-03 00:00": false, "2026-03-01 23:59": false} {
		moment, err := time.Parse("2006-01-02 15:04", at)
		if err != nil || w.within(moment) != want {
			t.Errorf("%s: %t, %v", at, w.within(moment), err)
		}
	}
}

func TestEdit(t *testing.T) { // EDIT
	t.Parallel()
	b := newBench(t, thresholdRule(3, 2, nil))
	b.steps("a=95 b=95 c=95", "", "a=95 b=95 c=95", "", "a=95 b=95 c=95", "a begin Critical, b begin Critical, c begin Critical")
	b.edit(func(r *Rule) {
		r.Config.CheckThreshold.Critical = "$A > 99"
		r.ChangedBy = "Anna Roth"
	})
	b.steps("!timeout", "", "a=95 c=1 d=95", "b closed Critical")
	if got := b.why(); got != "the rule was changed by Anna Roth, and its query no longer returns the series" {
		t.Error(got)
	}
	b.steps("a=95 c=1 d=95", "a fall Warning, c recovered Critical", "a=95 d=95", "d begin Warning")
	b.steps("e=95 a=80 d=80", "", "e=95 a=80 d=80", "")
	b.edit(func(r *Rule) { r.Config.CheckThreshold.AlertingCheckTimes = 2 })
	b.steps("e=80 a=80 d=80", "e begin Warning")
	b.edit(func(r *Rule) { r.Labels = map[string]string{"team": "db"} })
	b.steps("a=80 e=80", "", "a=80 e=80", "d gone Warning")
	b.edit(func(r *Rule) {
		r.Config.CheckThreshold.Enabled = false
		r.Config.CheckNodata = &Nodata{Counts: times(1, 1), Severity: "Info"}
	})
	b.steps("!timeout", "", "a=80", "a closed Warning, e closed Warning")
	if got := b.last.Transitions[0].Why[0].English(); got != "the rule was changed by Anna Roth, and no longer has this check" {
		t.Error(got)
	}
}

// TestEditKeepsMissingSeries has a missing series while its rule is changed: a change of what is not the query does not end
// it.
func TestEditKeepsMissingSeries(t *testing.T) {
	t.Parallel()
	b := newBench(t, nodataRule(1, 1, 0))
	b.steps("a=1 b=1 c=1", "", "b=1 c=1", "a begin Critical")
	b.edit(func(r *Rule) { r.Config.CheckNodata.Severity = "Warning" })
	b.steps("b=1 c=1", "a fall Warning", "b=1", "c begin Warning")
	b.edit(func(r *Rule) { r.Config.Queries[0].Expr = "other" })
	b.steps("d=1 c=NaN", "a closed Warning, c closed Warning", "c=1", "d begin Warning")
}

func TestRecoveryByQuery(t *testing.T) { // QL
	t.Parallel()
	b := newBench(t, thresholdRule(1, 2, func(t *Threshold) { t.Recovery = Recovery{Mode: "ql", Condition: `up{host="${host}"}`} }))
	b.reply = "x=1"
	b.steps("a=95 b=95", "a begin Critical, b begin Critical", "a=95 b=95", "")
	if len(b.asks) > 0 {
		t.Errorf("asked %v where a severity holds", b.asks)
	}
	b.steps("a=1 b=95", "")
	if len(b.asks) != 1 || b.asks[0].Query.Expr != `up{host="a"}` || b.asks[0].Instance != Key(map[string]string{"host": "a"}) {
		t.Errorf("asked %v", b.asks)
	}
	b.reply = ""
	b.steps("a=1 b=95", "")
	b.reply = "!timeout"
	b.steps("a=1 b=1", "")
	if o := b.last.Outcome; o.Known || o.Kind != Timeout {
		t.Errorf("%+v", o)
	}
	b.reply = "x=1"
	b.steps("a=1 b=95", "", "a=1 b=95", "a recovered Critical")
	if got := b.why(); !strings.HasSuffix(got, "the recovery query returned a row; recovered in the last 2 answers") {
		t.Error(got)
	}
	b.steps("", "", "", "b gone Critical")

	b = newBench(t, anydataRule(1, 1, func(a *Anydata) { a.Recovery = Recovery{Mode: "ql", Condition: "up"} }))
	b.steps("a", "a begin Warning", "", "", "", "", "", "")
	b.reply = "x=1"
	b.steps("a", "", "", "a recovered Warning")
}

// TestRecoveryQueryHoldsNoHostileLabel has a label that would end the text it is put into.
func TestRecoveryQueryHoldsNoHostileLabel(t *testing.T) {
	t.Parallel()
	b := newBench(t, thresholdRule(1, 1, func(t *Threshold) { t.Recovery = Recovery{Mode: "ql", Condition: "SELECT 1 WHERE host='${host}'"} }))
	b.reply = "x=1"
	b.steps("a'OR'1=95 b=95", "a'OR'1 begin Critical, b begin Critical", "a'OR'1=1 b=1", "b recovered Critical")
	if o := b.last.Outcome; o.Known || o.Kind != Invalid || !strings.HasPrefix(o.Message, `label "host" has a quote`) {
		t.Errorf("%+v", o)
	}
}

func TestTimeout(t *testing.T) { // TIMEOUT
	t.Parallel()
	b := newBench(t, nodataRule(1, 1, 180))
	b.steps("a=1", "", "", "a begin Critical", "", "", "!timeout", "", "!timeout", "", "", "a closed Critical", "", "")
	if b.State() != "" {
		t.Errorf("a closed series is remembered: %s", b.State())
	}
	for seconds, want := range map[int64]string{7 * 86400: "the series was not seen for 7 days", 180: "the series was not seen for 3 minutes", 45: "the series was not seen for 45 seconds"} {
		if s := notSeen(seconds); s.English() != want {
			t.Error(s.English())
		}
	}
	rule := nodataRule(100, 1, 0)
	rule.Interval = 24 * time.Hour
	b = newBench(t, rule)
	b.steps("a=1", "")
	for range 8 {
		b.steps("", "")
	}
	if b.State() != "" {
		t.Errorf("a series that is missing for 7 days is remembered: %s", b.State())
	}
	b = newBench(t, nodataRule(1, 1, 0))
	b.steps("a=1", "", "", "a begin Critical")
	b.at = b.at.Add(1000 * time.Hour)
	b.steps("", "", "a=1", "a recovered Critical")
}

func TestSilentEnd(t *testing.T) { // SILENT_END
	t.Parallel()
	no := false
	rule := thresholdRule(1, 1, func(t *Threshold) { t.PushRecoveryEvent = &no })
	rule.RepeatInterval = 2 * time.Minute
	rule.RepeatTotal = 2
	b := newBench(t, rule)
	b.steps("a=95", "a begin Critical")
	if b.last.Transitions[0].Silent {
		t.Error("a beginning is silent")
	}
	b.steps("a=95", "", "a=95", "a repeat Critical")
	if got := b.why(); got != `"$A > 90" holds: 95 > 90; it is still open` {
		t.Error(got)
	}
	b.steps("a=80", "a fall Warning", "a=80", "", "!timeout", "", "a=80", "a repeat Warning", "a=80", "", "a=80", "", "a=80", "", "a=1", "a recovered Warning")
	if !b.last.Transitions[0].Silent {
		t.Error("the end is not silent")
	}
}

func TestKeep(t *testing.T) { // KEEP
	t.Parallel()
	b := newBench(t, thresholdRule(1, 1, func(t *Threshold) { t.Missing = "keep" }))
	b.steps("a=95", "a begin Critical", "", "", "", "", "", "")
	if all := b.Instances(); len(all) != 1 || !all[0].Kept.Equal(start.Add(time.Minute)) || *all[0].Value != 95 {
		t.Errorf("%+v", all)
	}
	b.steps("a=80", "a fall Warning")
	if all := b.Instances(); len(all) != 1 || !all[0].Kept.IsZero() {
		t.Errorf("%+v", all)
	}
	b.steps("", "", "a=1", "a recovered Warning")
}

func TestKey(t *testing.T) { // KEY
	t.Parallel()
	rule := thresholdRule(1, 1, func(t *Threshold) { t.Critical, t.Warning = "$C > 1 and $B > 1", "" })
	rule.Config.Queries = []Query{{Name: "C"}, {Name: "B"}}
	b := newBench(t, rule)
	b.steps("a=2;a=2", "a begin Critical")
	if got := b.last.Transitions[0].Query; got != "B" {
		t.Error(got)
	}
	if got := Key(map[string]string{"b": "2", "a": "1"}); got != Key(map[string]string{"a": "1", "b": "2"}) || len(got) != 16 {
		t.Error(got)
	}
	if Key(nil) != "cbf29ce484222325" || Key(map[string]string{"a": "bc"}) == Key(map[string]string{"ab": "c"}) {
		t.Error(Key(nil))
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t, thresholdRule(2, 1, nil))
	b.steps("a=95", "", "!unreachable", "", "!timeout", "", "!timeout", "")
	if o := b.last.Outcome; o.Known || o.Unknown || !o.Since.Equal(start.Add(time.Minute)) || o.Kind != Timeout {
		t.Errorf("%+v", o)
	}
	b.edit(func(*Rule) {})
	b.steps("!timeout", "")
	if o := b.last.Outcome; !o.Unknown {
		t.Errorf("%+v", o)
	}
	b.steps("a=95", "a begin Critical")
	if !b.last.Outcome.Known {
		t.Errorf("%+v", b.last.Outcome)
	}
}

// TestTooMany has more series than may fire: nothing begins, what is open stays, and the rule itself has an instance.
func TestTooMany(t *testing.T) {
	t.Parallel()
	rule := thresholdRule(1, 1, nil)
	rule.RepeatInterval = time.Hour
	b := newBench(t, rule)
	b.limits.instances = 2
	b.steps("a=80", "a begin Warning", "b=95 c=95 d=95", "begin Critical")
	if got := b.why(); got != "the rule matches 3 series, more than 2, so no alert of it begins" || b.last.Transitions[0].Check != CheckTooMany {
		t.Error(got)
	}
	b.steps("b=95 c=95 d=95", "", "b=95 c=95 d=95", "")
	b.edit(func(*Rule) {})
	b.limits.instances = 2
	b.steps("a=80 b=80", "b begin Warning, recovered Critical")
	b.steps("a=80 c=95", "begin Critical", "a=80 c=95", "b gone Warning, c begin Critical, recovered Critical")

	b = newBench(t, nodataRule(1, 1, 0))
	b.limits.instances = 2
	b.steps("a=1 b=1 c=1", "begin Critical", "c=1", "a begin Critical, b begin Critical", "a=1 b=1", "a recovered Critical, b recovered Critical, recovered Critical")
}

// TestQuestionsTakeTurns has more instances that may have recovered than may be asked about.
func TestQuestionsTakeTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t, thresholdRule(1, 1, func(t *Threshold) { t.Recovery = Recovery{Mode: "ql", Condition: "up"} }))
	b.limits.questions = 2
	asked := map[string]int{}
	b.steps("a=95 b=95 c=95 d=95 e=95", "a begin Critical, b begin Critical, c begin Critical, d begin Critical, e begin Critical")
	for range 5 {
		b.steps("a=1 b=1 c=1 d=1 e=1", "")
		for _, q := range b.asks {
			asked[q.Instance]++
		}
	}
	if fmt.Sprint(len(asked)) != "5" {
		t.Errorf("asked %v", asked)
	}
	for key, n := range asked {
		if n != 2 {
			t.Errorf("%s was asked %d times", key, n)
		}
	}
	if b.Answered(b.at, nil).Transitions != nil {
		t.Error("answers without questions change something")
	}
}

// TestAdopt goes on from a state that is older than what is open.
func TestAdopt(t *testing.T) {
	t.Parallel()
	b := newBench(t, thresholdRule(3, 1, nil))
	b.steps("a=95 b=95", "", "a=95 b=95", "", "b=95 a=95", "a begin Critical, b begin Critical", "a=95 b=95 d=95", "")
	old := b.State()
	b.steps("a=1 b=95 c=95", "a recovered Critical", "b=80 c=95", "b fall Warning", "b=95 c=95", "c begin Critical")
	var open []Instance
	for _, i := range b.Instances() {
		if i.Firing {
			open = append(open, i)
		}
	}
	w, err := New(b.rule, old)
	if err != nil {
		t.Fatal(err)
	}
	w.Adopt(append(open, Instance{Check: "unknown"}))
	b.Watch = w
	if got := fmt.Sprint(len(b.Instances()), b.opened); got != "3 2" { // d is pending
		t.Error(got, b.Instances())
	}
	b.steps("a=95 b=95 c=95", "", "a=95 b=95 c=1", "c recovered Critical", "a=95 b=95", "a begin Critical, b rise Critical")
}

// TestRelated asks the queries for descriptions with a beginning and a repeat.
func TestRelated(t *testing.T) {
	t.Parallel()
	rule := thresholdRule(1, 1, nil)
	rule.RepeatInterval = time.Minute
	rule.Config.RelateQueries = []Query{{Name: "Top", Expr: "topk(3, x{host=\"${host}\"})"}}
	b := newBench(t, rule)
	for _, text := range []string{"a=95", "a=95"} {
		b.step(text)
		if r := b.last.Related; len(r) != 1 || r[0].Query.Expr != `topk(3, x{host="a"})` || r[0].Query.Name != "Top" {
			t.Errorf("%+v", r)
		}
	}
	if b.step("a=1"); len(b.last.Related) > 0 {
		t.Errorf("%+v", b.last.Related)
	}
}
