package sentence_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"tocsin/internal/core/sentence"
)

// shape returns a sentence as nested codes, which is how these tests compare it.
func shape(s *sentence.Data) string {
	if s == nil {
		return ""
	}
	var args []string
	for _, arg := range s.Args {
		if inner, ok := arg.(*sentence.Data); ok {
			args = append(args, shape(inner))
		} else {
			args = append(args, fmt.Sprint(arg))
		}
	}
	return s.Code + "(" + strings.Join(args, "|") + ")"
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"named by the rule":   "named()",
		"on call in Night, N": "on_call(Night|N)",
		"on call in Night, N, because the incident has grown further, to 60 alerts":                                                                                 "because(on_call(Night|N)|grown_further(60))",
		`labels.env is "prod", IN prod`:                                                                                                                             `met(labels.env|"prod"|IN|prod)`,
		`labels.env is "a and b", IN a and b and severity is "Info", IN *`:                                                                                          `both(met(labels.env|"a and b"|IN|a and b)|met(severity|"Info"|IN|*))`,
		`labels.env is "prod", not IN test, qa, 3 more values`:                                                                                                      `more_values(unmet(labels.env|"prod"|IN|test, qa)|3)`,
		`host is not there, not IN a; severity is "Info", not IN Critical; met: team is "x", IN x`:                                                                  `either(unmet_absent(host|IN|a)|either(unmet(severity|"Info"|IN|Critical)|and_met(met(team|"x"|IN|x))))`,
		"no escalation rule of the channel matches; Night work: it is disabled":                                                                                     "either(no_rule_matches()|named_why(Night work|rule_disabled()))",
		"nobody is on call in Night; person 5 has left":                                                                                                             "either(nobody_on_call(Night)|has_left(5))",
		"on call in Day, A; sms refused it; it waits for the end of quiet hours":                                                                                    "either(on_call(Day|A)|either(refused_it(sms)|waits_quiet()))",
		`host is "a", so it joins incident 663a1b2c3d4e5f6789abcdf0`:                                                                                                `group_joins(group_value(host|"a")|663a1b2c3d4e5f6789abcdf0)`,
		"Nobody was notified: the event was dropped.":                                                                                                               "sentence(s_nobody(event_was_dropped()))",
		"Mon 13 Apr 12:00:02 (Asia/Shanghai): The incident was snoozed for 5 minutes by Rita Reader. So its escalation stands still in that time.":                  "moment(Mon 13 Apr 12:00:02 (Asia/Shanghai)|sentences(f_snoozed_by(5|Rita Reader)|sentence(so_stands_still())))",
		"Notification to Rita Reader (on call in Day, A) over sms: failed, it answered 400 Bad Request. So it was tried over email instead.":                        "sentences(n_message(n_plain()|Rita Reader|on_call(Day|A)|sms|st_failed_why(answered(400|Bad Request)))|sentence(instead(email)))",
		"Mon 13 Apr 12:00:02 (Asia/Shanghai): Rita Reader acknowledged the incident.":                                                                               "moment(Mon 13 Apr 12:00:02 (Asia/Shanghai)|sentence(f_acknowledged_by(Rita Reader)))",
		"The escalation ended: every step of escalation rule on call is done and no person has acknowledged the incident.":                                          "sentence(f_ended(all_steps_done(on call)))",
		`schedule "Nights": no one is on call every Monday, Tuesday and Friday 06:00 to 08:00 the next day, 90 times from 2026-04-14 to 2026-07-13 (Asia/Shanghai)`: `l_schedule("Nights"|l_gap_when(l_every(Monday, Tuesday and Friday|06:00|08:00 the next day|90|2026-04-14|2026-07-13|Asia/Shanghai)))`,
	} {
		s := sentence.Read(text)
		if got := shape(s); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		} else if s.English() != text {
			t.Errorf("%q is written as %q", text, s.English())
		}
	}
	for _, text := range []string{"", "the dog ate it", "Night, N on call in", strings.Repeat("a; ", 10_000)} {
		if s := sentence.Read(text); s != nil {
			t.Errorf("%.40q is read as %s", text, shape(s))
		}
	}
}

// TestNames reads sentences with names that look like other sentences: a name is never read as one.
func TestNames(t *testing.T) {
	for _, name := range []string{"named by the rule", "Ann. Bob", "A, B", `"><img src=x>`, "%s %[2]d", "nobody is on call in X", "a; b", "a and b"} {
		for _, text := range []string{sentence.Of("nobody_on_call", name), sentence.Of("team_empty", name), sentence.Of("f_acknowledged_by", name) + "."} {
			s := sentence.Read(text)
			if s == nil || s.English() != text {
				t.Errorf("%q is read as %s", text, shape(s))
			}
		}
	}
}

var verbs = regexp.MustCompile(`%([a-z])`)

// samples are arguments of each kind.
var samples = map[string]string{
	"d": "7", "q": `"a, b. (c)"`, "t": "labels.x", "s": "Night work", "n": "Ann, team Disk", "p": "Ann and Bob", "c": "Mon 13 Apr 12:00 (Asia/Shanghai)",
	"h": "09:00", "y": "Monday", "g": "Critical", "m": "sms", "o": "IN", "k": "channel", "w": "named by the rule", "v": "what no one knows",
}

// TestTable writes each sentence of the table, reads it, and compares: the codes are unique, and no sentence hides another.
func TestTable(t *testing.T) {
	codes := map[string]bool{}
	for _, p := range sentence.Patterns() {
		if codes[p.Code] {
			t.Errorf("two sentences have the code %s", p.Code)
		}
		codes[p.Code] = true
		text := verbs.ReplaceAllStringFunc(p.English, func(verb string) string {
			sample, ok := samples[verb[1:]]
			if !ok {
				t.Errorf("%s: %s is no kind of hole", p.Code, verb)
			}
			return sample
		})
		if strings.Contains(verbs.ReplaceAllString(p.English, "%"), "%%") {
			t.Errorf("%s: nothing parts two holes", p.Code)
		}
		s := sentence.Read(text)
		switch {
		case s == nil:
			t.Errorf("%s: %q is not read", p.Code, text)
		case s.English() != text:
			t.Errorf("%s: %q is written as %q", p.Code, text, s.English())
		case s.Code != p.Code:
			t.Errorf("%s: %q is read as %s", p.Code, text, shape(s))
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(p.Code, err)
		}
	}
}

// TestDocumented checks that docs/sentences.md lists the table.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sentences.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, p := range sentence.Patterns() {
		fmt.Fprintf(&table, "| `%s` | `%s` |\n", p.Code, p.English)
	}
	_, listed, _ := strings.Cut(string(page), "| code | sentence |\n|---|---|\n")
	if listed != table.String() {
		t.Errorf("docs/sentences.md does not list the table; its list must be\n%s", table.String())
	}
}

func FuzzRead(f *testing.F) {
	for _, p := range sentence.Patterns() {
		f.Add(p.English)
	}
	f.Add("Mon 13 Apr 12:00:02 (Asia/Shanghai): A. B; c and d, e (f): g")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "..") || strings.Contains(text, " .") { // a sentence is written with one full stop
			return
		}
		if s := sentence.Read(text); s != nil && s.English() != text {
			t.Errorf("%q is written as %q", text, s.English())
		}
	})
}
