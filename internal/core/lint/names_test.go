package lint

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/filter"
	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// hostile are names that read like sentences, or like how sentences are stored.
var hostile = []string{
	`Ann is on call twice at once, as primary and backup`, `Ann is paged for Info and cannot be reached: nobody`, `" of channel "Day`,
	`A, B and C`, `layers[0] "N"`, `x: never matches, no y`, `; the hole ends`, `{"code":"l_no_fallback"}`, `{"code":`, `%s %[2]d`, `<b>&`,
}

// TestFindingsKeepHostileNames checks a configuration in which everything has one name. The name is one argument wherever it
// is shown, and the sentences around it are those around any other name.
func TestFindingsKeepHostileNames(t *testing.T) {
	t.Parallel()
	plain := partsOf(t, "Plain")
	for _, code := range []string{
		"l_owner", "l_fallback", "l_no_channel", "l_no_default", "l_unknown_severity", "l_times", "l_once", "l_pipeline_rule", "l_drop_rule", "l_inhibit_rule",
		"l_silence_rule", "l_escalate_rule", "l_route_of", "l_member", "l_never_matches", "l_never_value", "l_drops", "l_silences", "l_lasts", "l_channel_disabled",
		"l_channel_no_rule", "l_person", "l_no_browser", "l_quiet", "l_prefers", "l_notifies_by", "l_in_vain", "l_step_of", "l_step_part", "l_step_gap",
		"l_step_chat", "l_uncovered", "l_conditions", "l_with", "l_without", "l_with_other", "l_more_fields", "l_hours", "l_unproven", "l_schedule", "l_on_call_twice",
		"l_twice_as", "l_twice_by", "l_gap_when", "l_gap_open", "l_layer", "l_begins_only", "l_never_on", "l_night_cut", "l_drift_hours", "l_over",
		"l_over_all", "l_over_more", "l_on_call_twice_more", "l_person_id", "l_reserved", "l_rule_matches", "l_rule_no_channel", "l_rule_channels", "l_rule_no_row", "l_rule_delay",
		"l_rule_silent", "l_rules_alike", "l_source_twice", "l_source_secret", "l_source_no_edge", "l_source_can_write",
	} {
		if !slices.Contains(plain, code) {
			t.Errorf("no finding is made with %s", code)
		}
	}
	for _, name := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, part := range partsOf(t, name) {
				if want := renamed(plain[min(i, len(plain)-1)], name); part != want {
					t.Fatalf("part %d is %q, want %q", i, part, want)
				}
			}
			if got := partsOf(t, name); len(got) != len(plain) {
				t.Errorf("%d parts, want %d", len(got), len(plain))
			}
		})
	}
}

// renamed returns a part of a sentence about Plain as it is about another name.
func renamed(part, name string) string {
	switch part {
	case "Plain":
		return name
	case `"Plain"`:
		return strconv.Quote(name)
	}
	return part
}

// partsOf returns the codes and arguments of all sentences about a configuration in which everything has one name.
func partsOf(t *testing.T, name string) (parts []string) {
	t.Helper()
	for _, f := range Check(named(t, name)) {
		data := f.Sentence.Data()
		if !strings.HasPrefix(data.Code, "l_") || data.English() != f.Sentence.English() {
			t.Errorf("%q has the data %+v", f.Sentence, data)
		}
		parts = appendParts(t, parts, &data)
	}
	return parts
}

func appendParts(t *testing.T, parts []string, arg any) []string {
	t.Helper()
	switch arg := arg.(type) {
	case *sentence.Data:
		if arg.Code == "" {
			t.Errorf("%q is a sentence without a code", arg.Args)
		}
		parts = append(parts, arg.Code)
		for _, inner := range arg.Args {
			parts = appendParts(t, parts, inner)
		}
	case []any:
		for _, element := range arg {
			parts = appendParts(t, parts, element)
		}
	case int64:
		parts = append(parts, strconv.FormatInt(arg, 10))
	case string:
		parts = append(parts, arg)
	default:
		t.Errorf("%T is no argument", arg)
	}
	return parts
}

// named returns a configuration with as many findings as possible, in which everything has one name.
func named(t *testing.T, name string) Config {
	t.Helper()
	now := time.Date(2026, 4, 13, 0, 0, 0, 0, time.UTC).Unix()
	object := func(kind string) fault.Ref { return fault.Ref{Kind: kind, ID: "1", Name: name} }
	is := func(key string, vals ...string) filter.Filter {
		return filter.Filter{{{Key: key, Oper: filter.In, Vals: vals}}}
	}
	of := func(f filter.Filter) Filtered { return Filtered{ID: "1", Name: name, Filter: f} }
	never := filter.Filter{{{Key: "severity", Oper: filter.In, Vals: []string{"critical"}}}}
	lacks := sentence.New("on_call", name, name)
	many := filter.Filter{{}}
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		many[0] = append(many[0], filter.Condition{Key: key, Oper: filter.In, Vals: []string{name}})
	}
	step := func(parts ...Part) Step { return Step{Pages: true, Parts: parts} }
	person := Part{Ref: object("person"), Persons: []int64{1}}

	nights := restricted(nil, 19, 7, 1)
	nights.Name, nights.Mask = name, 0b0111110
	turns := oncall.Layer{Name: name, Unit: oncall.Hour, Value: 12, Start: 1700000000, Zone: load(t, "Europe/Berlin"), Groups: []oncall.Group{{Name: name, Members: []oncall.Member{
		{RoleID: 0, PersonIDs: []int64{1}}, {RoleID: 1, PersonIDs: []int64{1, 2}}}}}}
	late, over := restricted(nil, 0, 24, 1), restricted(nil, 0, 24, 1)
	late.Name, late.Start = name, now+500*day
	over.Name, over.End = name, now-day
	excluded := restricted(nil, 1, 2, 1)
	excluded.Name = name
	excluded.Start, excluded.End = now+2*3600, now+3*3600
	holes := restricted(nil, 8, 16, 1)
	holes.End = now + 30*day
	schedule := func(layers ...oncall.Layer) Schedule {
		return Schedule{Ref: object("schedule"), Pages: true, Timeline: &oncall.Schedule{Zone: time.UTC, Layers: layers}, Names: map[int64]string{1: name}}
	}
	schedules := []Schedule{schedule(nights, turns, late, excluded, over), schedule(over, over), schedule(slices.Repeat([]oncall.Layer{over}, 25)...), schedule(holes)}
	for range 25 { // in which one person without a name is on call
		schedules = append(schedules, schedule(restricted(nil, 8, 9, 3)))
	}

	sources := []Datasource{
		{ID: 1, Name: name, Type: "sls", Refused: name}, {ID: 2, Name: name, Type: "sls", NoEdge: name}, {ID: 3, Name: name, Type: "sls", CanWrite: name},
	}
	rules := []AlertRule{
		{ID: 1, Name: name, Type: "sls"}, {ID: 2, Name: name, Type: "sls", Channels: 1, Sources: sources, ByName: sources, Empty: 20, Silent: true},
	}
	for n := range 5 {
		rules = append(rules, AlertRule{ID: uint64(10 + n), Name: name, Type: "prometheus", Sources: sources, Taken: true, Queries: []string{`up{host="` + strconv.Itoa(n) + `"}`}})
	}
	return Config{
		Now: now, Zone: time.UTC, Account: object("account"), Proxy: name, Owner: Person{ID: 9, Name: name, Lacks: lacks}, Fallback: Fallback{Set: true, Lacks: lacks},
		Channels: []Channel{
			{ID: 1, Name: name, Disabled: true},
			{ID: 2, Name: name, Drops: []Filtered{of(nil), of(never)}, Inhibits: []Inhibit{{ID: "1", Name: name, Source: never, Target: never}},
				Silences: []Silence{{Filtered: of(nil), Start: now, End: now + 40*day}, {Filtered: of(never), Active: []Span{{now, now + Horizon}}}}},
			{ID: 3, Name: name, Rules: []Rule{{Filtered: of(is("labels.env", name)), CannotSend: []string{"sms", "voice"}, Steps: []Step{{
				Pages: true, Parts: []Part{person, {Ref: object("team"), Lacks: sentence.New("l_part_empty")}, {Ref: object("schedule"), Gaps: []Span{{now, now + Horizon}}}},
				Chats: []Chat{{Kind: "slack", Lacks: lacks}}, Unreached: []Unreached{{Person: 1, Name: name, Severity: "Critical", Why: lacks}, {Person: 1, Name: name, Severity: "Info", Why: lacks}},
			}}}}},
			{ID: 4, Name: name, Rules: []Rule{{Filtered: of(is("severity", "Info")), Windowed: true, Steps: []Step{step(person)}}}},
			{ID: 5, Name: name, Rules: []Rule{{Filtered: of(many), Steps: []Step{step(person)}}}},
			{ID: 6, Name: name, Rules: []Rule{{Filtered: of(filter.Filter{{{Key: "labels.env", Oper: filter.NotIn, Vals: []string{name}}}}), Steps: []Step{step(person)}}}},
			{ID: 7, Name: name, Rules: []Rule{{Filtered: of(filter.Filter{{{Key: "title", Oper: filter.In, Vals: []string{name}}}}), Steps: []Step{step(person)}}}},
			{ID: 8, Name: name, Rules: []Rule{{Filtered: of(filter.Filter{
				{{Key: "host", Oper: filter.In, Vals: []string{"/^[a-m]/"}}}, {{Key: "host", Oper: filter.NotIn, Vals: []string{"/^[a-m]/"}}}}), Steps: []Step{step(person)}}}},
		},
		Sources: []Source{
			{ID: 1, Name: name}, {ID: 2, Name: name, Routed: true, Cases: []filter.Group{never[0]}, Discards: []Filtered{{Name: "rules[0]"}},
				Unknown: []Unknown{{Word: name, Events: 1}, {Word: name, Events: 2}}},
		},
		Schedules: schedules, Persons: []Person{{ID: 1, Name: name, HoldsCritical: true, CannotSend: []string{"sms", "voice"}, NoBrowser: true}},
		Reserved: []Reserved{{ID: 1, Name: name, Member: "url", Reference: "TOCSIN_X"}}, AlertRules: rules, Datasources: sources,
	}
}
