package configuration

import (
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/core/event"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// problem is the findings of one kind about one object, as the page shows them in a row.
type problem struct {
	finding                   // the first of them
	Sentences []sentence.Data // without those that differ from another in severities alone
}

// Many reports whether the row is about several objects, whose names are in its sentences.
func (p problem) Many() bool { return p.Code == lint.OnCallTwice && len(p.Sentences) > 1 }

// problems puts findings together: those of one kind about one object, and all persons who are on call twice at once.
func problems(findings []lint.Finding) (all []problem) {
	type key struct {
		code   lint.Code
		object fault.Ref
	}
	at := map[key]int{}
	for _, f := range findings {
		k := key{f.Code, f.Object}
		if f.Code == lint.OnCallTwice {
			k.object = fault.Ref{}
		}
		n, seen := at[k]
		if !seen {
			n = len(all)
			at[k] = n
			all = append(all, problem{finding: finding{f}})
		}
		all[n].add(f.Sentence.Data())
	}
	return all
}

// add adds a sentence, or its severities to a sentence that differs in them alone.
func (p *problem) add(s sentence.Data) {
	for i, other := range p.Sentences {
		if joined, ok := joinSeverities(other, s); ok {
			p.Sentences[i] = joined
			return
		}
	}
	p.Sentences = append(p.Sentences, s)
}

// joinSeverities returns a sentence with the severities of two that are the same but for them; false: they differ in more.
func joinSeverities(a, b sentence.Data) (sentence.Data, bool) {
	if a.Code == "" || a.Code != b.Code || len(a.Args) != len(b.Args) {
		return a, false
	}
	joined := sentence.Data{Code: a.Code, Args: slices.Clone(a.Args)}
	for i := range a.Args {
		if reflect.DeepEqual(a.Args[i], b.Args[i]) {
			continue
		}
		first, ofA := severitiesOf(a.Args[i])
		second, ofB := severitiesOf(b.Args[i])
		if !ofA || !ofB {
			return a, false
		}
		joined.Args[i] = slices.Concat(first, second)
	}
	return joined, true
}

// severitiesOf returns an argument that is a list of severities; false: it is something else.
func severitiesOf(arg any) ([]any, bool) {
	list, ok := arg.([]any)
	for _, one := range list {
		text, is := one.(string)
		ok = ok && is && event.Rank(text) > 0
	}
	return list, ok
}

// utc is a moment in a sentence of the configuration check.
var utc = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d UTC`)

// lintWords returns a sentence in the visitor's language, with its moments in the visitor's time zone.
func lintWords(v *page.Visit, s sentence.Data) any {
	w := v.Words(sentence.Words(s.Value()))
	w.Text = utc.ReplaceAllStringFunc(w.Text, func(text string) string {
		at, err := time.Parse("2006-01-02 15:04 MST", text)
		if err != nil {
			return text
		}
		return v.When(at.Unix())
	})
	return w
}

// cure is the form that fixes a kind of problem: what follows the address of its object, and the permission that the form needs.
type cure struct {
	form  string
	needs auth.Permission
}

// formsOfCures are the forms by the codes of problems.
var formsOfCures = map[lint.Code]cure{
	lint.ChannelWithoutRule:  {"/escalations/new", auth.ChannelsManage},
	lint.SeverityUncovered:   {"/escalations/new", auth.ChannelsManage},
	lint.ConditionsUncovered: {"/escalations/new", auth.ChannelsManage},
	lint.HoursUncovered:      {"/escalations/new", auth.ChannelsManage},
	lint.CoverUnproven:       {"/escalations/new", auth.ChannelsManage},
	lint.SourceWithoutTarget: {"/edit", auth.IntegrationsManage},
	lint.RouteWithoutDefault: {"/route", auth.IntegrationsManage},
	lint.OnCallGap:           {"/override", auth.SchedulesManage},
	lint.ClockChangeGap:      {"/edit", auth.SchedulesManage},
	lint.LayerNeverOnCall:    {"/edit", auth.SchedulesManage},
	lint.HoursCut:            {"/edit", auth.SchedulesManage},
	lint.TurnsDrift:          {"/edit", auth.SchedulesManage},
	lint.ValueWithoutEffect:  {"/edit", auth.SchedulesManage},
	lint.LayerOver:           {"/edit", auth.SchedulesManage},
}

// Cure returns the address of the form that fixes the problem; empty: the visitor may not open it, or it is the object's own page.
func (p problem) Cure(v *page.Visit) string {
	c, known := formsOfCures[p.Code]
	base := map[string]string{"channel": "/channels/", "integration": "/integrations/", "schedule": "/schedules/"}[p.Object.Kind]
	if !known || base == "" || !v.Who.May(c.needs) {
		return ""
	}
	return base + url.PathEscape(p.Object.ID) + c.form
}
