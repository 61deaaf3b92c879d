package schedule

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/person"
)

// names finds the names of persons, each once.
type names struct {
	c     *api.Call
	known map[int64]string
}

// maxNames is how many persons of a group are looked up: groups may have thousands.
const maxNames = 20

// of returns the names of the first persons in a group, each once, in their order, and how many more there are.
func (n names) of(g *Group) (first []string, more int, err error) {
	first, seen := []string{}, map[int64]bool{}
	for _, m := range g.Members {
		for _, id := range m.PersonIDs {
			if seen[id] {
				continue
			}
			seen[id] = true
			if len(seen) > maxNames {
				more++
				continue
			}
			name, err := n.name(id)
			if err != nil {
				return nil, 0, err
			}
			first = append(first, name)
		}
	}
	return first, more, nil
}

func (n names) name(id int64) (string, error) {
	if name, known := n.known[id]; known {
		return name, nil
	}
	p, found, err := person.Find(n.c.Tx, n.c.Who.AccountID, id)
	switch {
	case err != nil:
		return "", err
	case !found:
		p.PersonName = fmt.Sprintf("person %d, who does not exist", id)
	case p.Status == "deleted":
		p.PersonName += ", who has left,"
	}
	n.known[id] = p.PersonName
	return p.PersonName, nil
}

// add adds the name of a person to a list, unless it is in it or the list is full.
func (n names) add(list *[]string, id int64) error {
	if len(*list) == maxNames {
		return nil
	}
	name, err := n.name(id)
	if err == nil && !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
	return err
}

// maxShown is how many persons or layers a sentence names.
const maxShown = 5

// list returns names as part of a sentence; more is how many others there are, of which kind what.
func list(all []string, more int, what string) string {
	shown := all[:min(len(all), maxShown)]
	if more += len(all) - len(shown); more > 0 {
		return fmt.Sprintf("%s and %d more %s", strings.Join(shown, ", "), more, what)
	}
	if len(shown) < 2 {
		return strings.Join(shown, "")
	}
	return strings.Join(shown[:len(shown)-1], ", ") + " and " + shown[len(shown)-1]
}

// words returns the explanation in sentences.
func (s *stored) words(x *Explained, why oncall.Why, n names, clock person.Clock) ([]string, error) {
	var words []string
	if s.Status != 0 {
		words = append(words, fmt.Sprintf("Schedule %s is disabled: no person is paged from it.", s.Name))
	}
	who, err := n.onCall(x.Oncall)
	if err != nil {
		return nil, err
	}
	switch at := clock.Minute(x.At); {
	case x.Oncall == nil:
		words = append(words, fmt.Sprintf("At %s no one is on call in schedule %s.", at, s.Name))
	case x.NextChange == 0:
		words = append(words, fmt.Sprintf("At %s %s on call in schedule %s, with no end.", at, who, s.Name))
	default:
		words = append(words, fmt.Sprintf("At %s %s on call in schedule %s, until %s.", at, who, s.Name, clock.Minute(x.NextChange)))
	}
	if why.Piece != nil {
		words = append(words, s.ruleWords(why.Piece))
	}
	for i := range x.Layers {
		words = append(words, s.title(i)+" "+s.layerWords(&x.Layers[i], i, clock)+".")
	}
	for i := range x.Covers {
		text, err := n.coverWords(&x.Covers[i], clock)
		if err != nil {
			return nil, err
		}
		words = append(words, text)
	}
	if x.NextChange == 0 {
		return append(words, "Nothing changes within 400 days."), nil
	}
	next, err := n.onCall(x.NextOncall)
	switch {
	case err != nil:
		return nil, err
	case x.NextOncall == nil:
		next = "no one is on call for at least 400 days"
	case x.NextOncall.Start > x.NextChange:
		next = fmt.Sprintf("no one is on call until %s, when %s on call", clock.Minute(x.NextOncall.Start), next)
	case x.NextOncall.End >= oncall.MaxInstant:
		next += " on call, with no end"
	default:
		next += " on call until " + clock.Minute(x.NextOncall.End)
	}
	return append(words, fmt.Sprintf("Next change: %s. From then on %s.", clock.Minute(x.NextChange), next)), nil
}

// onCall returns the subject and the verb of a sentence about a shift.
func (n names) onCall(o *OncallEntry) (string, error) {
	if o == nil {
		return "", nil
	}
	switch all, more, err := n.of(&o.Group); {
	case err != nil:
		return "", err
	case len(all) == 0:
		return fmt.Sprintf("group %s, which has no persons, is", quoted(o.Group.GroupName)), nil
	case len(all) == 1:
		return all[0] + " is", nil
	default:
		return list(all, more, "persons") + " are", nil
	}
}

// coverWords returns what a cover does.
func (n names) coverWords(x *CoverExplained, clock person.Clock) (string, error) {
	if len(x.Covered) > 0 {
		return fmt.Sprintf("%s is on call in place of %s, from %s until %s.", x.ByName, list(x.Covered, 0, "persons"),
			clock.Minute(x.Start), clock.Minute(x.End)), nil
	}
	whom := fmt.Sprintf("on-call role %d", x.cover.RoleID)
	if x.cover.PersonID != 0 {
		var err error
		whom, err = n.name(x.cover.PersonID)
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s covers %s until %s, which has no effect: there is no one to replace at that moment.", x.ByName, whom,
		clock.Minute(x.End)), nil
}

// ruleWords returns why the sources of a shift count.
func (s *stored) ruleWords(p *oncall.Piece) string {
	var by []string
	for _, source := range p.Sources {
		by = append(by, s.title(source.Layer))
	}
	switch p.Rule {
	case oncall.RuleOverride:
		return by[0] + " replaces every other layer at that moment."
	case oncall.RuleStacked:
		return list(by, 0, "layers") + " cover that moment together, and their groups are merged."
	}
	return by[0] + " is the only layer that covers that moment."
}

// title names a layer at the start of a sentence.
func (s *stored) title(i int) string {
	kind := "Layer "
	if s.Layers[i].Mode == int64(oncall.Override) {
		kind = "Override "
	}
	if name := s.Layers[i].LayerName; name != "" {
		return kind + name
	}
	return fmt.Sprintf("%snumber %d", kind, i+1)
}

func quoted(name string) string {
	if name == "" {
		return "without a name"
	}
	return name
}

// layerWords returns what a layer does at the moment, as the rest of a sentence.
func (s *stored) layerWords(x *LayerExplained, i int, clock person.Clock) string {
	l := &s.Layers[i]
	turn := s.turnWords(x, l)
	switch x.Reason {
	case oncall.NotStarted.String():
		return "does not count yet: it begins on " + clock.Minute(l.LayerStart)
	case oncall.Ended.String():
		return "does not count any more: it ended on " + clock.Minute(l.ExpireTime)
	case oncall.Masked.String():
		return "does not count: this is not one of its days" + turn
	case oncall.NotACalendarDay.String():
		if x.onlyOff {
			return "does not count: this is not a day off in calendar " + x.Calendar + turn
		}
		return "does not count: this is a day off in calendar " + x.Calendar + turn
	case oncall.Absent.String():
		return "does not count: everyone of the group is absent, and no other group stands in" + absentWords(x, clock) + turn
	case oncall.Restricted.String():
		return "does not count: this is outside of its hours" + turn
	case oncall.Invalid.String():
		return "does not count: it is not valid and cannot be computed"
	case oncall.Preempted.String():
		override := "override " + quoted(x.CoveredBy)
		return fmt.Sprintf("is covered by %s%s%s", override, turn, absentWords(x, clock))
	}
	return fmt.Sprintf("counts from %s (%s) until %s (%s)%s%s", clock.Minute(x.Start), edge(x.StartBy, "begins", "begin"),
		clock.Minute(x.End), edge(x.EndBy, "ends", "end"), turn, absentWords(x, clock))
}

// absentWords returns who is absent, as a part of a sentence.
func absentWords(x *LayerExplained, clock person.Clock) string {
	switch len(x.Absent) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; %s is absent until %s", x.Absent[0], clock.Minute(x.absentUntil))
	}
	return fmt.Sprintf("; %s are absent, the first of them until %s", list(x.Absent, 0, "persons"), clock.Minute(x.absentUntil))
}

// turnWords returns the rotation and the turn of a layer, as the end of a sentence.
func (s *stored) turnWords(x *LayerExplained, l *LayerConfig) string {
	if x.Turn == 0 {
		return ""
	}
	who := "with no persons"
	if len(x.Persons) > 0 {
		who = "with " + list(x.Persons, x.more, "persons")
	}
	switch {
	case x.standInName:
		who = fmt.Sprintf("of group %s, for which group %s stands in, %s", quoted(x.GroupName), quoted(x.StandIn), who)
	case x.GroupName != "":
		who = fmt.Sprintf("of group %s, %s", x.GroupName, who)
	}
	if l.Mode == int64(oncall.Override) {
		return ": its only turn is " + who
	}
	rotation := map[string]string{"hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly"}[l.RotationUnit] + " rotation"
	if l.RotationValue != 1 {
		rotation = fmt.Sprintf("rotation every %d %ss", l.RotationValue, l.RotationUnit)
	}
	return fmt.Sprintf(": %s, turn %d, %s", rotation, x.Turn, who)
}

// edge returns what begins or ends a shift.
func edge(cause, one, many string) string {
	switch cause {
	case oncall.CauseLayer.String():
		return "the layer " + one
	case oncall.CauseMask.String():
		return "its days " + many
	case oncall.CauseCalendar.String():
		return "its calendar days " + many
	case oncall.CauseAbsence.String():
		return "an absence begins or ends"
	case oncall.CauseRestrict.String():
		return "its hours " + many
	}
	return "the turn " + one
}
