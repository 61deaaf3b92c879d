package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/person"
)

// ExplainRequest asks who is on call at a moment, and why.
type ExplainRequest struct {
	ScheduleID int64 `json:"schedule_id" doc:"The schedule."`
	At         int64 `json:"at,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"The moment, Unix seconds in ten digits; absent: now."`
}

// Explained is who is on call at a moment, and why.
type Explained struct {
	ScheduleID   int64            `json:"schedule_id" doc:"The schedule."`
	ScheduleName string           `json:"schedule_name" doc:"Its name."`
	Status       int64            `json:"status" doc:"0 enabled, 1 disabled: it is computed as usual and no person is paged from it."`
	At           int64            `json:"at" doc:"The moment, Unix seconds."`
	Words        []string         `json:"words" doc:"The explanation in sentences, with times in the caller's time zone: who is on call, why, what each layer does, and when it changes next."`
	Oncall       *OncallEntry     `json:"oncall" doc:"Who is on call at that moment; null when no one is."`
	Rule         string           `json:"rule" doc:"single: one layer covers the moment; stacked: several do, and their groups are merged; override: an override replaces everything else; empty: no one is on call."`
	NextChange   int64            `json:"next_change" doc:"When that ends or, if no one is on call, when the next shift begins, Unix seconds; 0: not within 400 days."`
	NextOncall   *OncallEntry     `json:"next_oncall" doc:"The next shift, which may begin later than next_change; null when none begins within 400 days."`
	Layers       []LayerExplained `json:"layers" doc:"What each layer contributes, in the order in which they are configured."`
	Covers       []CoverExplained `json:"covers" doc:"The covers in force at that moment, in the order in which they count."`
}

// LayerExplained is the part of one layer in an explanation.
type LayerExplained struct {
	LayerName string   `json:"layer_name" doc:"Name of the layer."`
	Mode      int64    `json:"mode" doc:"0 rotation, 1 override."`
	Reason    string   `json:"reason" doc:"on_call; preempted: covered by an override; not_started, ended; masked: outside its days; not_a_calendar_day: its calendars exclude the date; restricted: outside its hours; absent: no one is present; invalid: it cannot be computed."`
	Turn      int64    `json:"turn" doc:"Number of the turn since the layer began, from 1; 0: it has none at that moment."`
	GroupName string   `json:"group_name" doc:"The group whose turn it is; empty: none."`
	StandIn   string   `json:"stand_in" doc:"The group that takes the time because everyone in that group is absent; empty: none."`
	Absent    []string `json:"absent" doc:"Names of the persons of these groups who are absent, at most 20."`
	Calendar  string   `json:"calendar" doc:"With not_a_calendar_day: the name of the calendar that excludes the date; empty otherwise."`
	Persons   []string `json:"persons" doc:"Names of the persons in the group on call, without absent ones, or else in the group whose turn it is; at most 20."`
	Start     int64    `json:"start" doc:"Since when the group is on in this layer, Unix seconds; 0 unless reason is on_call or preempted."`
	StartBy   string   `json:"start_by" doc:"What begins then: layer, turn, mask (its days), calendar, restriction (its hours) or absence; empty without start."`
	End       int64    `json:"end" doc:"Until when, Unix seconds; 0 likewise."`
	EndBy     string   `json:"end_by" doc:"What ends then, likewise."`
	CoveredBy string   `json:"covered_by" doc:"The override that replaces it; empty unless reason is preempted."`
	more      int      // persons that are not in Persons

	absentUntil int64 // when the first of Absent is back
	onlyOff     bool  // Calendar is one on whose days off alone the layer is on
	standInName bool  // a group stands in, whatever its name
}

// CoverExplained is what one cover does.
type CoverExplained struct {
	OverrideID int64    `json:"override_id" doc:"The override that holds the cover."`
	ByName     string   `json:"by_name" doc:"Name of the person who covers."`
	Covered    []string `json:"covered" doc:"Names of the persons who are replaced; empty: the cover has no effect, because the persons it is for are not on call."`
	Start      int64    `json:"start" doc:"When the cover begins, Unix seconds."`
	End        int64    `json:"end" doc:"When it ends, Unix seconds."`
	cover      oncall.Cover
}

func (r *Service) explain(c *api.Call, in ExplainRequest) (x Explained, err error) {
	s, err := get(c.Tx, c.Who.AccountID, in.ScheduleID)
	if err != nil {
		return x, err
	}
	e, err := s.engine(c.Who.Zone)
	if err != nil {
		return x, err
	}
	if in.At == 0 {
		in.At = c.Unix()
	}
	why := e.Why(in.At)
	_, next := e.At(in.At)
	x = Explained{
		ScheduleID: s.ScheduleID, ScheduleName: s.Name, Status: s.Status, At: in.At,
		Oncall: s.oncall(why.Piece), NextOncall: s.oncall(next), Layers: make([]LayerExplained, len(why.Layers)),
	}
	switch {
	case why.Piece == nil && next != nil:
		x.NextChange = next.Start
	case why.Piece != nil:
		x.Rule = why.Piece.Rule.String()
		if why.Piece.End < oncall.MaxInstant {
			x.NextChange = why.Piece.End
		}
	}
	n := names{c, map[int64]string{}}
	for i := range why.Layers {
		x.Layers[i], err = s.explainLayer(e, why, i, n)
		if err != nil {
			return x, err
		}
	}
	x.Covers, err = explainCovers(e, why, n)
	if err != nil {
		return x, err
	}
	clock, err := person.ClockOf(c.Tx, c.Who, c.Now)
	if err != nil {
		return x, err
	}
	x.Words, err = s.words(&x, why, n, clock)
	return x, err
}

// explainLayer returns the part of one layer.
func (s *stored) explainLayer(e *oncall.Schedule, why oncall.Why, i int, n names) (l LayerExplained, err error) {
	w := &why.Layers[i]
	l = LayerExplained{
		LayerName: s.Layers[i].LayerName, Mode: s.Layers[i].Mode,
		Reason: w.Reason.String(), Turn: w.Turn + 1, Persons: []string{},
		Absent: []string{},
	}
	if w.Group >= 0 {
		group := &s.Layers[i].Groups[w.Group]
		l.GroupName = group.GroupName
		if p := w.Presence; p != nil {
			present := shown(&p.Group, 0, 0)
			group = &present
			if w.Entry.Group != p.TurnOf {
				l.StandIn, l.standInName = p.Group.Name, true
			}
		}
		l.Persons, l.more, err = n.of(group)
		if err != nil {
			return l, err
		}
	}
	for _, a := range w.Absences {
		if l.absentUntil == 0 || e.Absences[a].End < l.absentUntil {
			l.absentUntil = e.Absences[a].End
		}
		if err := n.add(&l.Absent, e.Absences[a].PersonID); err != nil {
			return l, err
		}
	}
	if w.Reason == oncall.NotACalendarDay {
		l.Calendar, l.onlyOff = s.excluding(i, w.Skip)
	}
	if w.Reason == oncall.OnCall || w.Reason == oncall.Preempted {
		l.Start = w.Entry.Start
		l.StartBy = w.Entry.StartBy.String()
		l.End = w.Entry.End
		l.EndBy = w.Entry.EndBy.String()
	}
	if w.Reason == oncall.Preempted {
		l.CoveredBy = s.Layers[why.Piece.Sources[0].Layer].LayerName
	}
	return l, nil
}

// excluding returns the name of the calendar that excludes a date from a layer: the one it skips, or else the first of
// those on whose days off alone it is on.
func (s *stored) excluding(layer, skip int) (name string, only bool) {
	ids, only := s.Layers[layer].SkipCalIDs, skip < 0
	if only {
		ids, skip = s.Layers[layer].OnlyCalIDs, 0
	}
	for _, id := range ids {
		c, known := s.calendars[id]
		if known && skip == 0 {
			return c.name, only
		}
		if known {
			skip--
		}
	}
	return "", only
}

// explainCovers returns the covers in force.
func explainCovers(e *oncall.Schedule, why oncall.Why, n names) ([]CoverExplained, error) {
	list := []CoverExplained{}
	for _, r := range why.Covers {
		c := e.Covers[r.Cover]
		x := CoverExplained{OverrideID: c.ID, Covered: []string{}, Start: c.Start, End: c.End, cover: c}
		var err error
		x.ByName, err = n.name(c.By)
		if err != nil {
			return nil, err
		}
		for _, h := range r.Holders {
			if err := n.add(&x.Covered, h.PersonID); err != nil {
				return nil, err
			}
		}
		list = append(list, x)
	}
	return list, nil
}
