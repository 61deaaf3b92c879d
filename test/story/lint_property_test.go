package story

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
)

// generator makes configurations, most of which have a problem.
type generator struct{ *rand.Rand }

// rarely is true once in n.
func (g generator) rarely(n int) bool { return g.IntN(n) == 0 }

func (g generator) of(list ...string) string { return list[g.IntN(len(list))] }

// condition returns a condition that may be sound, lower-case, contradictory or about a label.
func (g generator) condition() string {
	oper := g.of("IN", "IN", "IN", "NOTIN")
	key, vals := "severity", g.of(`"Critical"`, `"Critical", "Warning"`, `"Critical", "Warning", "Info"`, `"critical"`, `"/^C/"`)
	if g.rarely(3) {
		key, vals = g.of("env", "labels.env"), g.of(`"prod"`, `"test"`, `"*"`, `"pr*"`, `"/^p/"`)
	}
	return fmt.Sprintf(`{"key": %q, "oper": %q, "vals": [%s]}`, key, oper, vals)
}

// filters returns groups of conditions.
func (g generator) filters() string {
	var groups []string
	for range 1 + g.IntN(2) {
		group := g.condition()
		if g.rarely(4) {
			group += ", " + g.condition()
		}
		groups = append(groups, "["+group+"]")
	}
	return `"filters": [` + strings.Join(groups, ", ") + "]"
}

// step returns a step whose target may be a person without an address, an empty team or a schedule with gaps.
func (g generator) step() string {
	target := g.of(persons(ann), persons(ann), persons(bob, cid), teams(ops), onCall(day), onCall(day))
	if g.rarely(6) {
		target = g.of(persons(dee), teams(empty), onCall(night), persons(ann, dee))
	}
	how := g.of(`"follow_preference": true`, `"follow_preference": true`, `"critical": ["email"]`, `"critical": ["sms", "email"], "info": ["email"]`)
	if g.rarely(10) {
		how = `"critical": ["sms"], "warning": ["ntfy"]`
	}
	return fmt.Sprintf(`{"target": {%s, "by": {%s}}, "escalate_window": %d}`, target, how, 1+g.IntN(5))
}

// rules returns escalation rules of a channel, whose last one often matches everything.
func (g generator) rules(channel int) (list []string) {
	n := 1 + g.IntN(2)
	for i := range n {
		more := ""
		switch last := i == n-1; {
		case last && !g.rarely(5):
		case g.rarely(3):
			more = g.of(`, "time_filters": [{"start": "08:00", "end": "20:00"}]`, `, "time_filters": [{"start": "00:00", "end": "23:59"}]`)
		default:
			more = ", " + g.filters()
		}
		steps := g.step()
		if g.rarely(3) {
			steps += ", " + g.step()
		}
		list = append(list, fmt.Sprintf(`{"rule_id": "%012x%012x", "channel_id": %d, "rule_name": "r%d", "priority": %d, "template_id": "000000000000000000000001", "layers": [%s]%s}`,
			channel, i, channel, i, i, steps, more))
	}
	return list
}

// account returns sections of an account file for the world.
func (g generator) account() string {
	sections := []string{fmt.Sprintf(`"fallbacks": [{"person_ids": [%d]}]`, olga)}
	var escalate []string
	for _, channel := range []int{shop, mail} {
		if !g.rarely(15) {
			escalate = append(escalate, g.rules(channel)...)
		}
	}
	sections = append(sections, `"escalate_rules": [`+strings.Join(escalate, ", ")+"]")
	if !g.rarely(12) {
		to := fmt.Sprintf(`, "default": {"channel_ids": [%d]}`, mail)
		if g.rarely(10) {
			to = ""
		}
		sections = append(sections, fmt.Sprintf(`"routes": [{"integration_id": %d, "cases": [{"if": [%s], "channel_ids": [%d], "fallthrough": %t}]%s}]`,
			shared, `{"key": "env", "oper": "IN", "vals": ["prod"]}`, shop, g.rarely(2), to))
	}
	if g.rarely(4) {
		sections = append(sections, fmt.Sprintf(`"drop_rules": [{"rule_id": "%024x", "channel_id": %d, "rule_name": "d", %s}]`, 7, shop, g.filters()))
	}
	if g.rarely(4) {
		sections = append(sections, fmt.Sprintf(`"silence_rules": [{"rule_id": "%024x", "channel_id": %d, "rule_name": "s", %s, "time_filters": [{"start": %q, "end": "23:59"}]}]`,
			8, mail, g.filters(), g.of("00:00", "21:00")))
	}
	if g.rarely(6) {
		sections = append(sections, fmt.Sprintf(`"preferences": [{"person_id": %d, "trigger_notify": {"critical": ["sms"], "warning": [], "info": ["telegram"]}, "quiet_hours": [{"start": "22:00", "end": "07:00"%s}]}]`,
			bob, g.of("", `, "but": ["Warning"]`)))
	}
	return "{" + strings.Join(sections, ", ") + "}"
}

// untold pushes an event of each severity and label at a moment, lets half a day pass, and returns the events that should
// have paged and for which no rule paged a person.
func (w *world) untold(at time.Duration) (list []string) {
	w.t.Helper()
	w.drift = 10 * time.Minute
	w.clock.Add(at)
	w.settle()
	events := map[string]string{}
	for name, key := range map[string]string{"shop": shopKey, "shared": sharedKey} {
		for _, severity := range []string{"Critical", "Warning", "Info"} {
			for _, env := range []string{"", "env=prod", "env=test", "env=other"} {
				what := strings.Join([]string{name, severity, env}, " ")
				var labels []string
				if env != "" {
					labels = []string{env}
				}
				events[what] = w.pushTo(key, what, severity, labels...)
			}
		}
	}
	w.pass(14 * time.Hour)
	for what, event := range events {
		r := w.do("/alert/explain", `{"event_id": %q}`, event)
		switch outcome := r.get("verdicts.0.outcome"); {
		case outcome == "dropped" || outcome == "silenced": // by a rule that names some alerts, on purpose
		case outcome != "opened" || !paged(r):
			list = append(list, what+": "+outcome+" "+r.get("words"))
		}
	}
	return list
}

// paged reports whether a notification to a person was sent because of a rule, and not only to the fallback.
func paged(r reply) bool {
	for i := range 5 {
		for n := 0; ; n++ {
			at := fmt.Sprintf("incidents.%d.notices.%d.", i, n)
			if r.get(at+"status") == "" {
				break
			}
			if r.get(at+"status") == "sent" && !strings.HasPrefix(r.get(at+"reason"), "the account's fallback") {
				return true
			}
		}
	}
	return false
}

// TestCleanConfigurationPagesForEveryEvent makes random configurations. In those in which /lint/list finds nothing, every
// event that no drop or silence rule names must page a person by a rule. Most others are found to be wrong.
// TOCSIN_LINT_CONFIGURATIONS sets how many it makes.
func TestCleanConfigurationPagesForEveryEvent(t *testing.T) {
	t.Parallel()
	configurations := apitest.Setting(t, "TOCSIN_LINT_CONFIGURATIONS", 12)
	clean := 0
	dirty := 0
	silent := 0
	for seed := range uint64(configurations) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			g := generator{rand.New(rand.NewPCG(seed, 31))}
			config := g.account()
			w := begin(t, config)
			found := w.findings()
			if len(found) > 0 {
				if dirty++; dirty%4 != 0 { // enough to see that the check of the pages can fail
					return
				}
			}
			untold := w.untold(time.Duration(g.IntN(48)) * 30 * time.Minute)
			switch {
			case len(found) == 0 && len(untold) > 0:
				t.Errorf("nothing was found in\n%s\nand no person was paged for\n%s", config, strings.Join(untold, "\n"))
			case len(found) == 0:
				clean++
			case len(untold) > 0:
				silent++
			}
		})
	}
	t.Logf("%d clean, %d with findings, of which %d of %d tried paged no one for some event", clean, dirty, silent, dirty/4)
	if clean < configurations/10 || dirty < configurations/2 || silent < max(1, dirty/20) {
		t.Errorf("the configurations are too much alike")
	}
}
