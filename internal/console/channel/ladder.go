package channel

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/engine/escalation"
	integrations "tocsin/internal/integration"
)

// ladderView shows who would be notified, minute by minute.
type ladderView struct {
	page.Titled
	Channel  channel.Shown
	Severity string
	Labels   string
	At       string
	Preview  *escalation.Preview
	People   map[int64]page.Person
	Alone    bool // nothing can send alerts yet, and the visitor may change that
}

func showLadder(v *page.Visit) (page.View, error) {
	c, err := storedChannel(v)
	if err != nil {
		return nil, err
	}
	d := ladderView{Titled: page.Titled(v.T("Who would be notified")), Channel: c, Severity: v.Query("severity"), Labels: v.Query("labels"),
		At: v.Query("at")}
	if !slices.Contains([]string{"Critical", "Warning", "Info"}, d.Severity) {
		d.Severity = "Critical"
	}
	request := escalation.PreviewRequest{ChannelID: c.ChannelID, IncidentSeverity: d.Severity, Labels: labelsOf(d.Labels)}
	if d.At != "" {
		at, err := fromInput(v, d.At)
		if err != nil {
			return nil, err
		}
		request.At = at
	}
	d.Preview, d.People, err = v.Preview(request)
	if err != nil || !v.Who.MayAny(page.ManageIntegrations) {
		return d, err
	}
	sources, err := page.Call[api.CursorPage[integrations.Integration]](v, "/integration/list", integrations.ListRequest{})
	d.Alone = !slices.ContainsFunc(sources.Items, func(i integrations.Integration) bool { return !i.IsWebhook() })
	return d, err
}
