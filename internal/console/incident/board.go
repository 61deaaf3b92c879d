package incident

import (
	"cmp"
	"slices"
	"strings"

	"tocsin/internal/console/page"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/engine/untold"
	incidents "tocsin/internal/incident"
)

// Board is open incidents in the order of need: incidents that no person has, incidents of which no person was notified, incidents
// that are worked on, and snoozed incidents. In each part the severest incidents come first; of one severity, single incidents come
// before rows of several, which would hide them in a storm, then the newest.
type Board struct {
	Total int64 // of all pages
	Next  string
	Parts []boardPart
	Storm *storm
}

// boardPart is the incidents of a board that need the same.
type boardPart struct {
	Name  string
	Count int64
	Rows  []Row
}

// Row is an incident or, from alikeFrom on, several incidents with one title.
type Row struct {
	incident            // the newest
	ID       string     // stays while incidents join the row
	Name     string     // of a single incident: its headline
	Alike    []incident // the incidents of a row of several
	differ   string     // the label by which they differ; empty: none
}

// alikeFrom is how many incidents with one title share a row.
const alikeFrom = 3

// storm is incidents of one title that began together and that no person has acknowledged. An incident with another title is none
// of them: who acknowledges a storm has not read that one.
type storm struct {
	Name, Channels string
	Since          int64
	IDs            []string
}

// Incidents that begin within stormSpan of each other are a storm from stormFrom on.
const (
	stormFrom = 10
	stormSpan = 600 // seconds
)

// ReadBoard reads a page of open incidents.
func ReadBoard(v *page.Visit, filter incidents.ListRequest) (Board, error) {
	filter.Limit = 100
	list, err := ReadList(v, filter)
	if err != nil {
		return Board{}, err
	}
	request := untold.ListRequest{ToAct: true}
	request.Limit = 100
	without, _, err := ReadUntold(v, request)
	for i := range list.Items {
		one := &list.Items[i]
		one.Untold = slices.ContainsFunc(without, func(u Unreached) bool { return u.IncidentID == one.IncidentID })
	}
	return boardOf(v, list), err
}

// readHistory reads a page of all incidents, the newest first.
func readHistory(v *page.Visit, filter incidents.ListRequest) (Board, error) {
	filter.Limit = page.PageSize
	list, err := ReadList(v, filter)
	b := Board{Total: list.Total, Next: list.Next}
	if len(list.Items) > 0 {
		part := boardPart{Name: v.T("All incidents"), Count: list.Total}
		for _, i := range list.Items {
			part.Rows = append(part.Rows, Row{incident: i, ID: i.IncidentID, Name: i.Headline})
		}
		b.Parts = []boardPart{part}
	}
	return b, err
}

// boardOf arranges a list.
func boardOf(v *page.Visit, list List) Board {
	b := Board{Total: list.Total, Next: list.Next}
	names := []string{v.T("Needs someone"), v.T("Nobody was told"), v.T("Being worked on"), v.T("Snoozed")}
	stages := make([][]incident, len(names))
	for _, i := range list.Items {
		stage := i.stage(v.Now.Unix())
		stages[stage] = append(stages[stage], i)
	}
	for stage, all := range stages {
		if len(all) > 0 {
			b.Parts = append(b.Parts, boardPart{names[stage], int64(len(all)), rowsOf(all)})
		}
		if stage == 0 && len(all) > 0 {
			b.Storm = stormOf(b.Parts[0].Rows)
		}
	}
	return b
}

// stage returns the place of the incident among those that need more or less: an index of the parts of a board.
func (i incident) stage(now int64) int {
	switch {
	case i.SnoozedBefore > now:
		return 3
	case i.Progress == incidents.Processing:
		return 2
	case i.Untold:
		return 1
	}
	return 0
}

// rowsOf returns the rows of some incidents in the order of a Board.
func rowsOf(all []incident) (rows []Row) {
	alike := map[string][]incident{}
	for _, i := range all {
		alike[i.bare()] = append(alike[i.bare()], i)
	}
	for title, some := range alike {
		if len(some) < alikeFrom {
			for _, i := range some {
				rows = append(rows, Row{incident: i, ID: i.IncidentID, Name: i.Headline})
			}
			continue
		}
		rows = append(rows, rowOf(title, some))
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(
			event.Rank(b.IncidentSeverity)-event.Rank(a.IncidentSeverity), min(len(a.Alike), 1)-min(len(b.Alike), 1),
			cmp.Compare(b.StartTime, a.StartTime), strings.Compare(b.IncidentID, a.IncidentID),
		)
	})
	return rows
}

// rowOf returns the row of incidents with one title. Its severity is the highest of theirs.
func rowOf(title string, some []incident) Row {
	slices.SortFunc(some, func(a, b incident) int {
		return cmp.Or(cmp.Compare(b.StartTime, a.StartTime), strings.Compare(b.IncidentID, a.IncidentID))
	})
	r := Row{incident: some[0], ID: page.Identity(title), Name: title, differ: differing(some)}
	for _, i := range some {
		if event.Rank(i.IncidentSeverity) > event.Rank(r.IncidentSeverity) {
			r.IncidentSeverity = i.IncidentSeverity
		}
	}
	slices.SortStableFunc(some, func(a, b incident) int { return strings.Compare(r.Place(a), r.Place(b)) })
	r.Alike = some
	return r
}

// bare returns the headline without the place in brackets at its end: that differs among the incidents of a storm.
func (i incident) bare() string {
	at := strings.LastIndex(i.Headline, " (")
	if at < 0 || !strings.HasSuffix(i.Headline, ")") {
		return i.Headline
	}
	place := i.Headline[at+2 : len(i.Headline)-1]
	for _, value := range i.Labels {
		if render.OneLine(value) == place {
			return i.Headline[:at]
		}
	}
	return i.Headline
}

// differing returns the label by which readers distinguish incidents: the most telling label whose values differ.
func differing(some []incident) string {
	var names []string
	for name := range some[0].Labels {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Concat(render.Places, names) {
		values := map[string]bool{}
		for _, i := range some {
			values[i.Labels[name]] = true
		}
		if len(values) > 1 && !values[""] {
			return name
		}
	}
	return ""
}

// Place returns by what a reader distinguishes an incident of the row from the others.
func (r Row) Place(i incident) string {
	if value := render.OneLine(i.Labels[r.differ]); value != "" {
		return value
	}
	return "#" + i.Num
}

// Differs returns what differs among the incidents of the row, or where a single incident is if its headline does not name it.
func (r Row) Differs() string {
	var words []string
	if r.Alike == nil {
		for _, name := range render.Places {
			value := render.OneLine(r.Labels[name])
			if value != "" && !strings.Contains(r.Headline, value) && !slices.Contains(words, value) {
				words = append(words, value)
			}
		}
		return strings.Join(words[:min(2, len(words))], ", ")
	}
	for _, i := range r.Alike {
		words = append(words, r.Place(i))
	}
	if len(words) > alikeFrom {
		return words[0] + " … " + words[len(words)-1]
	}
	return strings.Join(words, ", ")
}

// All returns the incidents of the row.
func (r Row) All() []incident {
	if r.Alike != nil {
		return r.Alike
	}
	return []incident{r.incident}
}

// IDs returns the ids of the incidents of the row, joined by commas.
func (r Row) IDs() string {
	var ids []string
	for _, i := range r.All() {
		ids = append(ids, i.IncidentID)
	}
	return strings.Join(ids, ",")
}

// IDs returns the ids of the incidents of the part, joined by commas.
func (p boardPart) IDs() string {
	var ids []string
	for _, r := range p.Rows {
		ids = append(ids, r.IDs())
	}
	return strings.Join(ids, ",")
}

// Channels returns the names of the channels of the incidents of the row.
func (r Row) Channels() string {
	return names(r.All(), func(i incident) []string { return []string{i.ChannelName} })
}

// Asked returns the names of the responders who have not acknowledged.
func (r Row) Asked() string { return names(r.All(), incident.asked) }

// Holder returns the names of the persons who have acknowledged; empty: no person has.
func (r Row) Holder() string { return names(r.All(), incident.holders) }

// names returns the names of several incidents, each once.
func names(all []incident, of func(incident) []string) string {
	var list []string
	for _, i := range all {
		for _, name := range of(i) {
			if name != "" && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return strings.Join(list, ", ")
}

// stormOf returns the greatest storm among the rows of incidents that need someone; nil: there is none.
func stormOf(rows []Row) *storm {
	var most Row
	var among []incident
	for _, r := range rows {
		if some := r.together(); len(some) > len(among) {
			most, among = r, some
		}
	}
	if len(among) < stormFrom {
		return nil
	}
	s := &storm{Name: most.Name, Channels: most.Channels(), Since: among[0].StartTime}
	for _, i := range among {
		s.IDs = append(s.IDs, i.IncidentID)
	}
	return s
}

// together returns the most incidents of the row that began together, the oldest first.
func (r Row) together() (most []incident) {
	all := slices.Clone(r.Alike)
	slices.SortStableFunc(all, func(a, b incident) int { return cmp.Compare(a.StartTime, b.StartTime) })
	from := 0
	for to := range all {
		for all[to].StartTime-all[from].StartTime > stormSpan {
			from++
		}
		if to+1-from > len(most) {
			most = all[from : to+1]
		}
	}
	return most
}

// Top returns the first rows of the board, and how many incidents they leave out.
func (b Board) Top(limit int) (rows []Row) {
	for _, p := range b.Parts {
		rows = append(rows, p.Rows...)
	}
	return rows[:min(limit, len(rows))]
}
