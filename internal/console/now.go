package console

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/console/configuration"
	"tocsin/internal/console/incident"
	"tocsin/internal/console/page"
	"tocsin/internal/console/schedule"
	"tocsin/internal/engine/untold"
	webhooks "tocsin/internal/engine/webhook"
	incidents "tocsin/internal/incident"
	integrations "tocsin/internal/integration"
	schedules "tocsin/internal/schedule"
)

var nowPages = []page.Page{
	{Path: "/{$}", Template: "now", Tab: "now", Show: showNow},
	{Path: "/find", Template: "find", Show: showFind},
}

var nowActions = []page.Action{{Path: "/cover/{request}/{answer}", Do: schedule.AnswerCover, Show: showNow, Template: "now"}}

// nowView answers three questions: am I on call, what burns, and what is wrong with the watch.
type nowView struct {
	page.Titled
	Mine      []schedule.Turn // in schedules that name the visitor, the present turns first
	Incidents incident.Board
	Covers    page.Listed[schedule.CoverRow] // that wait for the visitor's answer
	Untold    page.Listed[incident.Unreached]
	Gaps      page.Listed[schedule.Gap]
	Endpoints page.Listed[endpoint]
	Schedules bool // there is a schedule: without one no gap is known
	Webhooks  bool // there is a webhook
	Silences  api.Paged[channel.EffectiveSilence]
	Server    configuration.ServerHealth // how the server is
	Failed    map[string]string          // why a tile could not be read, by its name
	Hidden    map[string]bool            // tiles that the visitor may not read
}

// endpoint is a webhook whose last attempt failed.
type endpoint struct{ webhooks.FailingEndpoint }

// NextAttempt returns when the next attempt is made, in Unix seconds; 0: the endpoint is not held.
func (e endpoint) NextAttempt() int64 { return e.HeldUntil / 1000 }

// tile is a part of the page that is read by itself: when it cannot be, the others are shown all the same.
type tile struct {
	name string
	may  []auth.Permission // any of them; none: every person
	read func(*page.Visit) error
}

func showNow(v *page.Visit) (page.View, error) {
	first, err := readFirstRun(v)
	if first != nil || err != nil {
		return first, err
	}
	d := &nowView{Titled: page.Titled(v.T("Now")), Failed: map[string]string{}, Hidden: map[string]bool{}}
	readers := []auth.Permission{auth.SchedulesRead, auth.SchedulesManage}
	tiles := []tile{
		{"mine", readers, func(v *page.Visit) (err error) {
			d.Mine, err = schedule.ReadTurns(v)
			return err
		}},
		{"covers", nil, func(v *page.Visit) (err error) {
			d.Covers, err = schedule.CoversForMe(v)
			return err
		}},
		{"burns", []auth.Permission{auth.IncidentsRead}, func(v *page.Visit) (err error) {
			open := incidents.ListRequest{Progress: incident.OpenIncidents}
			d.Incidents, err = incident.ReadBoard(v, open)
			return err
		}},
		{"untold", []auth.Permission{auth.IncidentsRead}, d.readUntold},
		{"server", configuration.ReadHealth, func(v *page.Visit) (err error) {
			d.Server, err = configuration.ReadServerHealth(v)
			return err
		}},
		{"gaps", readers, d.readGaps},
		{"endpoints", []auth.Permission{auth.IntegrationsRead}, d.readEndpoints},
		{"silences", []auth.Permission{auth.ChannelsRead}, func(v *page.Visit) (err error) {
			request := channel.EffectiveRequest{Page: page.Ten}
			d.Silences, err = page.Call[api.Paged[channel.EffectiveSilence]](v, "/channel/silence/rule/list-effective", request)
			return err
		}},
	}
	for _, t := range tiles {
		if !v.Who.MayAny(t.may) {
			d.Hidden[t.name] = true
			continue
		}
		if err := t.read(v); err != nil {
			d.Failed[t.name] = v.T("It could not be read.")
			if refused := api.RefusalOf(err); refused != nil {
				d.Failed[t.name] = v.Refused(refused).Line()
			} else {
				v.Log.Error("console", "path", v.Request.URL.Path, "tile", t.name, "error", err)
			}
		}
	}
	return *d, nil
}

// readUntold reads what reached no one, without what is silent by choice: no action is needed there.
func (d *nowView) readUntold(v *page.Visit) error {
	request := untold.ListRequest{ToAct: true}
	request.Page = page.Ten
	items, reply, err := incident.ReadUntold(v, request)
	d.Untold = page.Listed[incident.Unreached]{Items: items, Total: reply.Total}
	return err
}

// readGaps reads the gaps and, without any, whether there is a schedule at all.
func (d *nowView) readGaps(v *page.Visit) error {
	reply, err := page.Call[api.Paged[schedules.OpenGap]](v, "/schedule/gap/list", schedules.GapListRequest{Page: page.Ten})
	d.Gaps.Total = reply.Total
	for _, g := range reply.Items {
		d.Gaps.Items = append(d.Gaps.Items, schedule.Gap{OpenGap: g})
	}
	if err != nil || d.Gaps.Total > 0 {
		d.Schedules = true
		return err
	}
	request := schedules.ListRequest{}
	request.Limit = 1
	all, err := page.Call[schedules.Page](v, "/schedule/list", request)
	d.Schedules = all.Total > 0
	return err
}

// readEndpoints reads the webhooks that fail and, without any, whether there is a webhook at all.
func (d *nowView) readEndpoints(v *page.Visit) error {
	reply, err := page.Call[api.Paged[webhooks.FailingEndpoint]](v, "/webhook/endpoint/list", webhooks.EndpointListRequest{Page: page.Ten})
	d.Endpoints.Total = reply.Total
	for _, e := range reply.Items {
		d.Endpoints.Items = append(d.Endpoints.Items, endpoint{e})
	}
	if err != nil || d.Endpoints.Total > 0 {
		return err
	}
	request := integrations.ListRequest{}
	return page.ByPage[api.CursorPage[integrations.Integration]](v, "/integration/list", request, func(items []integrations.Integration) bool {
		d.Webhooks = slices.ContainsFunc(items, func(i integrations.Integration) bool { return i.IsWebhook() })
		return !d.Webhooks
	})
}

// OnCall reports whether the visitor is on call now.
func (d nowView) OnCall() bool { return len(d.Mine) > 0 && d.Mine[0].On }

// NextTurn returns the visitor's next turn; nil when none begins within two weeks.
func (d nowView) NextTurn() *schedule.Turn {
	for i := range d.Mine {
		if !d.Mine[i].On && d.Mine[i].Start > 0 {
			return &d.Mine[i]
		}
	}
	return nil
}
