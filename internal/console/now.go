package console

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/engine/untold"
	webhooks "tocsin/internal/engine/webhook"
	incidents "tocsin/internal/incident"
	integrations "tocsin/internal/integration"
	schedules "tocsin/internal/schedule"
)

var nowPages = []page{{path: "/{$}", template: "now", tab: "now", show: showNow}}

// nowView answers three questions: am I on call, what burns, and what is wrong with the watch.
type nowView struct {
	titled
	Mine      []turn // in schedules that name the visitor, the present turns first
	Incidents incidentList
	Covers    listed[coverRow] // that wait for the visitor's answer
	Untold    listed[unreached]
	Gaps      listed[gap]
	Endpoints listed[endpoint]
	Schedules bool // there is a schedule: without one no gap is known
	Webhooks  bool // there is a webhook
	Silences  api.Paged[channel.EffectiveSilence]
	Server    serverHealth      // how the server is
	Failed    map[string]string // why a tile could not be read, by its name
	Hidden    map[string]bool   // tiles that the visitor may not read
}

// listed is a page of a list.
type listed[T any] struct {
	Items []T
	Total int64
}

// turn is when the visitor is on call in one schedule.
type turn struct {
	Schedule   int64
	Name       string
	On         bool  // now
	Start, End int64 // of the present turn or, when there is none, of the next; 0: none in two weeks
	Now        string
	Next       string // who is on call next
	NextAt     int64
	now, next  []int64
	shiftLinks
}

// gap is a time at which no one is on call in a schedule.
type gap struct{ schedules.OpenGap }

// Length returns how long the gap is, in seconds.
func (g gap) Length() int64 { return g.End - g.Start }

// FillPath returns the address of an override that fills the gap.
func (g gap) FillPath() string {
	return overrideLink(g.ScheduleID, piece{Start: g.Start, End: g.End}, everyone, 0)
}

// endpoint is a webhook whose last attempt failed.
type endpoint struct{ webhooks.FailingEndpoint }

// NextAttempt returns when the next attempt is made, in Unix seconds; 0: the endpoint is not held.
func (e endpoint) NextAttempt() int64 { return e.HeldUntil / 1000 }

// tile is a part of the page that is read by itself: when it cannot be, the others are shown all the same.
type tile struct {
	name string
	may  []auth.Permission // any of them; none: every person
	read func(*visit) error
}

// ten is the first ten of a list.
var ten = api.Page{Limit: 10}

func showNow(v *visit) (view, error) {
	d := &nowView{titled: titled(v.T("Now")), Failed: map[string]string{}, Hidden: map[string]bool{}}
	readers := []auth.Permission{auth.SchedulesRead, auth.SchedulesManage}
	tiles := []tile{
		{"mine", readers, d.readTurns},
		{"covers", nil, func(v *visit) (err error) {
			d.Covers, err = v.coversForMe()
			return err
		}},
		{"burns", []auth.Permission{auth.IncidentsRead}, func(v *visit) (err error) {
			open := incidents.ListRequest{Progress: openIncidents}
			open.Page = ten
			d.Incidents, err = v.incidents(open)
			return err
		}},
		{"untold", []auth.Permission{auth.IncidentsRead}, d.readUntold},
		{"server", readHealth, func(v *visit) (err error) {
			d.Server, err = v.serverHealth()
			return err
		}},
		{"gaps", readers, d.readGaps},
		{"endpoints", []auth.Permission{auth.IntegrationsRead}, d.readEndpoints},
		{"silences", []auth.Permission{auth.ChannelsRead}, func(v *visit) (err error) {
			request := channel.EffectiveRequest{Page: ten}
			d.Silences, err = call[api.Paged[channel.EffectiveSilence]](v, "/channel/silence/rule/list-effective", request)
			return err
		}},
	}
	for _, t := range tiles {
		if !v.who.MayAny(t.may) {
			d.Hidden[t.name] = true
			continue
		}
		if err := t.read(v); err != nil {
			d.Failed[t.name] = v.T("It could not be read.")
			if refused := api.RefusalOf(err); refused != nil {
				d.Failed[t.name] = v.Refused(refused).line()
			} else {
				v.Log.Error("console", "path", v.r.URL.Path, "tile", t.name, "error", err)
			}
		}
	}
	return *d, nil
}

// readUntold reads what reached no one, without what is silent by choice: no action is needed there.
func (d *nowView) readUntold(v *visit) error {
	request := untold.ListRequest{ToAct: true}
	request.Page = ten
	items, reply, err := v.untold(request)
	d.Untold = listed[unreached]{items, reply.Total}
	return err
}

// readGaps reads the gaps and, without any, whether there is a schedule at all.
func (d *nowView) readGaps(v *visit) error {
	reply, err := call[api.Paged[schedules.OpenGap]](v, "/schedule/gap/list", schedules.GapListRequest{Page: ten})
	d.Gaps.Total = reply.Total
	for _, g := range reply.Items {
		d.Gaps.Items = append(d.Gaps.Items, gap{g})
	}
	if err != nil || d.Gaps.Total > 0 {
		d.Schedules = true
		return err
	}
	request := schedules.ListRequest{}
	request.Limit = 1
	all, err := call[schedules.Page](v, "/schedule/list", request)
	d.Schedules = all.Total > 0
	return err
}

// readEndpoints reads the webhooks that fail and, without any, whether there is a webhook at all.
func (d *nowView) readEndpoints(v *visit) error {
	reply, err := call[api.Paged[webhooks.FailingEndpoint]](v, "/webhook/endpoint/list", webhooks.EndpointListRequest{Page: ten})
	d.Endpoints.Total = reply.Total
	for _, e := range reply.Items {
		d.Endpoints.Items = append(d.Endpoints.Items, endpoint{e})
	}
	if err != nil || d.Endpoints.Total > 0 {
		return err
	}
	request := integrations.ListRequest{}
	return pageByPage[api.CursorPage[integrations.Integration]](v, "/integration/list", request, func(items []integrations.Integration) bool {
		d.Webhooks = slices.ContainsFunc(items, func(i integrations.Integration) bool { return i.IsWebhook() })
		return !d.Webhooks
	})
}

// OnCall reports whether the visitor is on call now.
func (d nowView) OnCall() bool { return len(d.Mine) > 0 && d.Mine[0].On }

// NextTurn returns the visitor's next turn; nil when none begins within two weeks.
func (d nowView) NextTurn() *turn {
	for i := range d.Mine {
		if !d.Mine[i].On && d.Mine[i].Start > 0 {
			return &d.Mine[i]
		}
	}
	return nil
}

// maxTurns is how many schedules of the visitor are read: each is a call.
const maxTurns = 8

// readTurns reads the visitor's present and next turns, the present ones first.
func (d *nowView) readTurns(v *visit) error {
	own, err := call[api.Items[schedules.Schedule]](v, "/schedule/self", schedules.SelfRequest{})
	if err != nil {
		return err
	}
	var ids []int64
	for _, s := range own.Items[:min(len(own.Items), maxTurns)] {
		full, err := v.schedule(s.ScheduleID, v.Now.Unix(), v.Now.Unix()+14*86400)
		if err != nil {
			return err
		}
		t := v.turnIn(full)
		ids = append(append(ids, t.now...), t.next...)
		d.Mine = append(d.Mine, t)
	}
	slices.Sort(ids)
	people, err := v.people(slices.Compact(ids))
	for i, t := range d.Mine {
		d.Mine[i].Now, d.Mine[i].Next = names(people).list(t.now), names(people).list(t.next)
	}
	slices.SortStableFunc(d.Mine, func(a, b turn) int {
		if a.On != b.On {
			return map[bool]int{true: -1, false: 1}[a.On]
		}
		return cmp.Compare(cmp.Or(a.Start, 1<<60), cmp.Or(b.Start, 1<<60))
	})
	return err
}

// turnIn returns the visitor's turn in a schedule.
func (v *visit) turnIn(s schedule) turn {
	t := turn{Schedule: s.ScheduleID, Name: s.Name()}
	for _, e := range s.final() {
		if !slices.Contains(personsOf(e.Group), v.who.PersonID) {
			continue
		}
		if t.Start == 0 {
			t.Start, t.End = e.Start, e.End
			t.On = e.Start <= v.Now.Unix()
		} else if e.Start == t.End {
			t.End = e.End
		} else {
			break
		}
	}
	if c := s.CurOncall; c != nil {
		t.now = personsOf(c.Group)
		if t.On {
			t.End = max(t.End, c.End)
		}
	}
	t.next, t.NextAt = v.afterTurn(s, t)
	if t.Start > 0 {
		t.shiftLinks = v.shiftLinks(s, piece{Start: t.Start, End: t.End, Persons: []int64{v.who.PersonID}})
	}
	if c := s.CurOncall; c != nil && !t.On && v.MayServe(s) {
		t.Take = v.shiftLinks(s, piece{Start: c.Start, End: c.End, Persons: t.now}).Take
	}
	return t
}

// afterTurn returns who is on call after the visitor's present turn or, when there is none, after the present shift, and from when;
// no one when that is not known, or is the visitor alone, whose turn is shown anyway.
func (v *visit) afterTurn(s schedule, t turn) (persons []int64, from int64) {
	next := s.NextOncall
	if next != nil && !(t.On && next.Start < t.End) {
		persons, from = personsOf(next.Group), next.Start
	}
	if t.On {
		final := s.final()
		if i := slices.IndexFunc(final, func(e schedules.Entry) bool { return e.Start >= t.End }); i >= 0 {
			persons, from = personsOf(final[i].Group), final[i].Start
		}
	}
	if slices.Equal(persons, []int64{v.who.PersonID}) {
		return nil, 0
	}
	return persons, from
}

// ManagesSchedules reports whether the visitor may change schedules.
func (v *visit) ManagesSchedules() bool { return v.who.May(auth.SchedulesManage) }
