package channel

import (
	"cmp"
	"net/http"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/engine/escalation"
)

// draftPreview is who would be notified by the rule of the form, which need not be stored.
type draftPreview struct {
	Severity string
	Ladder   *escalation.Preview // nil: the rule is not complete
	People   map[int64]page.Person
	Wrong    *api.Refusal // why it is not
	Nobody   int          // the first step without a recipient, from 1; 0: none
}

// previewDraft fills in the preview of the rule in the form. Without the permission to store the rule there is none.
func (f *escalationForm) previewDraft(v *page.Visit, stored channel.EscalateRule) error {
	if !f.May || !v.Who.May(auth.IncidentsRead) {
		return nil
	}
	p := draftPreview{Severity: v.Field("preview_severity")}
	if !slices.Contains([]string{"Critical", "Warning", "Info"}, p.Severity) {
		p.Severity = "Critical"
	}
	f.Draft = &p
	draft, err := f.draft(v, stored)
	p.Nobody = 1 + slices.IndexFunc(draft.Layers, func(l channel.Layer) bool { return l.Target.Empty() })
	if err == nil && p.Nobody == 0 {
		draft.RuleName = cmp.Or(draft.RuleName, v.T("New rule")) // it is typed last
		request := escalation.PreviewRequest{ChannelID: f.Channel.ChannelID, IncidentSeverity: p.Severity, Rule: &draft}
		p.Ladder, p.People, err = v.Preview(request)
	}
	p.Wrong = api.RefusalOf(err)
	if p.Wrong != nil {
		return nil
	}
	return err
}

// draft returns the rule of the form: what was entered, else what is stored or what a new one begins with.
func (f *escalationForm) draft(v *page.Visit, stored channel.EscalateRule) (channel.EscalateBody, error) {
	if v.Request.Method == http.MethodPost {
		return escalationBody(v, stored, f.Offers)
	}
	body := channel.EscalateBody{
		RuleBody: channel.RuleBody{ChannelID: f.Channel.ChannelID, RuleName: f.Name}, TemplateID: f.Template,
		AggrWindow: &stored.AggrWindow, Layers: stored.Layers, TimeFilters: stored.TimeFilters, Filters: stored.Filters, Repeat: stored.Repeat,
	}
	if len(body.Layers) == 0 {
		to := channel.Target{ScheduleToRoleIDs: f.Layers[0].schedules(nil), By: &channel.By{FollowPreference: new(true)}}
		body.Layers = []channel.Layer{{Target: to}}
	}
	return body, nil
}
