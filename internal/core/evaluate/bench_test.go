package evaluate

import (
	"fmt"
	"testing"
	"time"
)

// manyRows returns an answer of a thousand series with five labels.
func manyRows(value float64) []Answer {
	a := Answer{Query: "A"}
	for n := range 1000 {
		a.Rows = append(a.Rows, Row{Values: Values{{Number: value}}, Labels: map[string]string{"instance": fmt.Sprintf("host-%d:9100", n),
			"job": "node", "env": "production", "device": "/dev/sda1", "mountpoint": "/"}})
	}
	return []Answer{a}
}

// BenchmarkStep evaluates a thousand series: quiet ones, firing ones that go on, and such that begin and end each time.
// ns/instance is the figure.
func BenchmarkStep(b *testing.B) {
	rule := thresholdRule(1, 1, nil)
	rule.Interval = time.Minute
	rule.Config.Queries[0].Expr = "up"
	quiet, firing := manyRows(1), manyRows(95)
	for name, answers := range map[string][2][]Answer{"quiet": {quiet, quiet}, "firing": {firing, firing}, "transition": {quiet, firing}} {
		b.Run(name, func(b *testing.B) {
			w, err := New(rule, "")
			if err != nil {
				b.Fatal(err)
			}
			at := start
			w.Step(at, answers[1])
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				at = at.Add(time.Minute)
				w.Step(at, answers[n%2])
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/1000, "ns/instance")
		})
	}
	b.Run("one", func(b *testing.B) {
		w, err := New(rule, "")
		if err != nil {
			b.Fatal(err)
		}
		one := []Answer{{Query: "A", Rows: firing[0].Rows[:1]}}
		at := start
		b.ReportAllocs()
		for b.Loop() {
			at = at.Add(time.Minute)
			w.Step(at, one)
		}
	})
}

func BenchmarkState(b *testing.B) {
	rule := nodataRule(1, 1, 0)
	rule.Config.Queries[0].Expr = "up"
	w, err := New(rule, "")
	if err != nil {
		b.Fatal(err)
	}
	w.Step(start, manyRows(1))
	state := w.State()
	b.ReportMetric(float64(len(state)), "bytes")
	for b.Loop() {
		w, err = New(rule, state)
		if err != nil || w.State() != state {
			b.Fatal(err)
		}
	}
}

// BenchmarkInstance counts and decides an instance that goes on as it was.
func BenchmarkInstance(b *testing.B) {
	rule := thresholdRule(1, 1, nil)
	rule.Config.Queries[0].Expr = "up"
	w, err := New(rule, "")
	if err != nil {
		b.Fatal(err)
	}
	c := &w.checks[threshold]
	i := newInstance("A", nil)
	i.become(Begin, critical, 1)
	s := signal{check: threshold, instance: i, severity: critical}
	b.ReportAllocs()
	at := int64(1)
	for b.Loop() {
		at++
		i.count(&s, at)
		c.decide(i, &w.rule, at)
	}
}
