package lint

import (
	"slices"

	"tocsin/internal/core/sentence"
)

// rule checks an escalation rule: its conditions, and whom its steps reach.
func (l *linter) rule(c *Channel, r *Rule) {
	what := sentence.New("l_escalate_rule", r.Name, c.Name)
	object := ref("escalate_rule", r.ID, r.Name)
	only := []int64{c.ID}
	l.filter(object, only, place{of: what, member: "filters"}, r.Filter, OfIncident)
	if len(r.CannotSend) > 0 {
		l.add(MethodNotSendable, object, only, sentence.New("l_notifies_by", what, r.CannotSend))
	}
	var inVain []string
	for _, severity := range Severities {
		if !l.mayMatch(r.Filter, severity) {
			continue
		}
		reached := false
		for i := range r.Steps {
			s := &r.Steps[i]
			reached = reached || l.reaches(s, severity)
			l.note(s, severity)
		}
		if !reached {
			inVain = append(inVain, severity)
		}
	}
	if len(inVain) > 0 {
		l.add(RulePagesNoOne, object, only, sentence.New("l_in_vain", what, inVain))
	}
	for i, s := range r.Steps {
		at := sentence.New("l_step_of", i+1, what)
		for _, p := range s.Parts {
			switch {
			case !s.Pages:
			case p.Lacks != "":
				l.add(StepWithoutPerson, object, only, sentence.New("l_step_part", at, p.Ref.Kind, p.Ref.Name, p.Lacks))
			case covers(p.Gaps, l.Now, l.Now+Horizon):
				l.add(StepWithoutPerson, object, only, sentence.New("l_step_gap", at, p.Ref.Name))
			default:
				l.gap(p)
			}
		}
		for _, chat := range s.Chats {
			if chat.Lacks != "" {
				l.add(ChatUnusable, object, only, sentence.New("l_step_chat", at, chat.Kind, chat.Lacks))
			}
		}
	}
}

// reaches reports whether a step reaches a person, an address or a chat for a severity at some time.
func (l *linter) reaches(s *Step, severity string) bool {
	if s.Emails > 0 && l.Mail || slices.ContainsFunc(s.Chats, func(c Chat) bool { return c.Lacks == "" }) {
		return true
	}
	if !s.Pages {
		return false
	}
	for _, p := range s.Parts {
		for _, person := range p.Persons {
			if !s.unreached(person, severity) {
				return true
			}
		}
	}
	return false
}

func (s *Step) unreached(person int64, severity string) bool {
	return slices.ContainsFunc(s.Unreached, func(u Unreached) bool { return u.Person == person && u.Severity == severity })
}

// note remembers the persons whom a step pages in vain for a severity.
func (l *linter) note(s *Step, severity string) {
	for _, u := range s.Unreached {
		if u.Severity != severity {
			continue
		}
		p := l.people[u.Person]
		if p == nil {
			p = &unreached{Unreached: u}
			l.people[u.Person] = p
		}
		if !slices.Contains(p.severities, severity) {
			p.severities = append(p.severities, severity)
		}
	}
}
