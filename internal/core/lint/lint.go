// Package lint finds what is wrong with an account's configuration: above all, events that would reach no one. It is
// pure: the configuration and the moment are arguments.
//
// It must never report as certain what it cannot prove: where only patterns decide, it reports that as information.
package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// Finding is one problem of a configuration.
type Finding struct {
	Code         Code           `json:"code" doc:"What kind of problem it is; the codes are in docs/lint.md."`
	Severity     string         `json:"severity" enum:"error,warning,info" doc:"error: an event can reach no one; warning: it can at some times or with some contents, or is late; info: silent by choice, or not to be proven."`
	Object       fault.Ref      `json:"object" doc:"The object to fix."`
	Sentence     sentence.Words `json:"sentence" doc:"The problem, in words."`
	SentenceData sentence.Data  `json:"sentence_data,omitzero" doc:"The sentence as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Fix          string         `json:"fix" doc:"What fixes it, in words."`
	Channel      int64          `json:"channel_id,omitzero" doc:"The channel that the object is a rule of; absent: it is no rule."`
	Channels     []int64        `json:"-"` // only callers who may read all of these may see it
}

// Check returns the problems of a configuration, the worst first.
func Check(c Config) []Finding {
	l := &linter{
		Config: c,
		meter:  filter.NewMeter(filter.EventSteps, filter.EventSteps),
		people: map[int64]*unreached{},
	}
	l.server()
	for i := range c.Sources {
		l.source(&c.Sources[i])
	}
	for i := range c.Channels {
		l.channel(&c.Channels[i])
	}
	l.schedules()
	l.persons()
	for _, d := range c.Reserved {
		l.add(ReservedVariable, ref("datasource", d.ID, d.Name), nil,
			sentence.New("l_reserved", d.Member, d.Name, d.Reference))
	}
	l.alertRules()
	rank := map[string]int{Error: 0, Warning: 1, Info: 2}
	slices.SortStableFunc(l.found, func(a, b Finding) int { return cmp.Compare(rank[a.Severity], rank[b.Severity]) })
	return l.found
}

// linter gathers the findings of one configuration.
type linter struct {
	Config
	meter       *filter.Meter // bounds what all filters together may cost
	found       []Finding
	ofSchedules []Finding
	gaps        []string             // the gaps of schedules that are found, each once
	people      map[int64]*unreached // persons whom rules page in vain
}

// unreached is a person with the severities for which no method reaches them.
type unreached struct {
	Unreached
	severities []string
}

// add adds a finding. channels are those whose readers alone may see it.
func (l *linter) add(code Code, object fault.Ref, channels []int64, says sentence.Value) {
	f := finding(code, object, says)
	f.Channels = channels
	if strings.HasSuffix(object.Kind, "_rule") && len(channels) == 1 {
		f.Channel = channels[0]
	}
	l.found = append(l.found, f)
}

// finding returns a finding of a code.
func finding(code Code, object fault.Ref, says sentence.Value) Finding {
	k := kindOf(code)
	return Finding{Code: code, Severity: k.Severity, Object: object, Sentence: sentence.Words(says), Fix: k.Fix}
}

// ref returns a reference to an object.
func ref(kind string, id any, name string) fault.Ref {
	return fault.Ref{Kind: kind, ID: fmt.Sprint(id), Name: name}
}

// server checks what the server can send, and whether the owner can be reached.
func (l *linter) server() {
	if !l.Mail && !l.Phone {
		l.add(ServerSendsNothing, l.Account, nil, sentence.New("l_sends_nothing"))
	}
	if l.Proxy != "" {
		l.add(ProxyNotTrusted, l.Account, nil, sentence.New("l_proxy_not_trusted", l.Proxy))
	}
	if l.Owner.Lacks != "" {
		l.add(OwnerUnreachable, ref("person", l.Owner.ID, l.Owner.Name), nil,
			sentence.New("l_owner", l.Owner.Name, l.Owner.Lacks))
	}
	switch {
	case !l.Fallback.Set:
		l.add(FallbackNotSet, l.Account, nil, sentence.New("l_no_fallback"))
	case l.Fallback.Lacks != "":
		l.add(FallbackUnreachable, l.Account, nil, sentence.New("l_fallback", l.Fallback.Lacks))
	}
}

// source checks where the alerts of an integration go.
func (l *linter) source(s *Source) {
	object := ref("integration", s.ID, s.Name)
	switch {
	case s.Channel != 0:
	case !s.Routed:
		l.add(SourceWithoutTarget, object, s.Channels, sentence.New("l_no_channel", s.Name))
	case !s.Default:
		l.add(RouteWithoutDefault, object, s.Channels, sentence.New("l_no_default", s.Name))
	}
	if s.Channel == 0 {
		for i, group := range s.Cases {
			at := place{of: sentence.New("l_route_of", s.Name), member: fmt.Sprintf("cases[%d].if", i), flat: true}
			l.filter(object, s.Channels, at, filter.Filter{group}, OfAlert)
		}
	}
	for _, d := range s.Discards {
		what := sentence.New("l_pipeline_rule", d.Name, s.Name)
		l.filter(object, s.Channels, place{of: what, member: "if"}, d.Filter, OfAlert)
		if Everything(d.Filter, OfAlert) {
			l.add(DropsEverything, object, s.Channels, sentence.New("l_drops", what))
		}
	}
	if len(s.Unknown) > 0 {
		l.add(SeverityUnknown, object, s.Channels, sentence.New("l_unknown_severity", s.Name, s.unknown()))
	}
}

// unknown returns the unknown severities of the integration, each as a sentence.
func (s *Source) unknown() (words []sentence.Value) {
	for _, u := range s.Unknown {
		if u.Events == 1 {
			words = append(words, sentence.New("l_once", u.Word))
		} else {
			words = append(words, sentence.New("l_times", u.Word, u.Events))
		}
	}
	return words
}

// filter checks one filter.
func (l *linter) filter(object fault.Ref, channels []int64, at place, f filter.Filter, s Subject) {
	for _, says := range unmatchable(at, f, s) {
		l.add(FilterNeverMatches, object, channels, says)
	}
	for _, says := range unknownValues(at, f, s) {
		l.add(ValueNeverOccurs, object, channels, says)
	}
}

// channel checks a channel and its rules.
func (l *linter) channel(c *Channel) {
	object, only := ref("channel", c.ID, c.Name), []int64{c.ID}
	if c.Disabled {
		l.add(ChannelDisabled, object, only, sentence.New("l_channel_disabled", c.Name))
		return
	}
	if len(c.Rules) == 0 {
		l.add(ChannelWithoutRule, object, only, sentence.New("l_channel_no_rule", c.Name))
	} else {
		l.cover(c, object, only)
	}
	for i := range c.Rules {
		l.rule(c, &c.Rules[i])
	}
	for _, r := range c.Drops {
		what, object := sentence.New("l_drop_rule", r.Name, c.Name), ref("drop_rule", r.ID, r.Name)
		l.filter(object, only, place{of: what, member: "filters"}, r.Filter, OfAlert)
		if Everything(r.Filter, OfAlert) {
			l.add(DropsEverything, object, only, sentence.New("l_drops", what))
		}
	}
	for i := range c.Silences {
		l.silence(c, &c.Silences[i])
	}
	for _, r := range c.Inhibits {
		what, object := sentence.New("l_inhibit_rule", r.Name, c.Name), ref("inhibit_rule", r.ID, r.Name)
		l.filter(object, only, place{of: what, member: "source_filters"}, r.Source, OfAlert)
		l.filter(object, only, place{of: what, member: "target_filters"}, r.Target, OfAlert)
	}
}

// silence checks a silence rule that is not over.
func (l *linter) silence(c *Channel, s *Silence) {
	what := sentence.New("l_silence_rule", s.Name, c.Name)
	object := ref("silence_rule", s.ID, s.Name)
	only := []int64{c.ID}
	l.filter(object, only, place{of: what, member: "filters"}, s.Filter, OfAlert)
	if Everything(s.Filter, OfAlert) {
		l.add(SilencesEverything, object, only, sentence.New("l_silences", what))
	}
	switch {
	case s.End == 0 && covers(s.Active, l.Now, l.Now+Horizon):
		l.add(LongSilence, object, only, sentence.New("l_windows", what))
	case TooLong(s.Start, s.End):
		l.add(LongSilence, object, only, sentence.New("l_lasts", what, (s.End-s.Start)/86400, stamp(s.End)))
	}
}

// TooLong reports whether a one-time silence is long enough to be forgotten.
func TooLong(start, end int64) bool { return end-start > maxSilence }

// schedules adds the gaps of the schedules that page, once for each schedule and roles, and what else is wrong with
// schedules.
func (l *linter) schedules() {
	l.found = append(l.found, l.ofSchedules...)
	for i := range l.Schedules {
		l.found = append(l.found, OfSchedule(&l.Schedules[i], l.Now)...)
	}
	across, _ := Across(l.Schedules, l.Now, l.Zone)
	l.found = append(l.found, across...)
}

// gap notes the gaps of a schedule in a step.
func (l *linter) gap(p Part) {
	key := p.Ref.ID + " " + fmt.Sprint(p.Gaps)
	if len(p.Gaps) == 0 || slices.Contains(l.gaps, key) {
		return
	}
	l.gaps = append(l.gaps, key)
	problems := gapProblems(p.Timeline, p.Roles, p.Gaps, l.Now)
	l.ofSchedules = append(l.ofSchedules, findings(p.Ref, problems)...)
}

// persons adds the persons whom rules page in vain, those whose quiet hours hold Critical, and methods of preferences that
// the server cannot send.
func (l *linter) persons() {
	for _, p := range l.Persons {
		object := ref("person", p.ID, p.Name)
		if u := l.people[p.ID]; u != nil && len(u.severities) > 0 {
			l.add(PersonUnreachable, object, nil, sentence.New("l_person", p.Name, u.severities, u.Why))
		}
		if p.HoldsCritical {
			l.add(QuietHoldsCritical, object, nil, sentence.New("l_quiet", p.Name))
		}
		if len(p.CannotSend) > 0 {
			l.add(MethodNotSendable, object, nil, sentence.New("l_prefers", p.Name, p.CannotSend))
		}
		if p.NoBrowser {
			l.add(PushWithoutBrowser, object, nil, sentence.New("l_no_browser", p.Name))
		}
	}
}

func stamp(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04 UTC") }

// length writes seconds in hours and minutes.
func length(seconds int64) string {
	if seconds%3600 == 0 {
		return fmt.Sprintf("%d h", seconds/3600)
	}
	return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
}
