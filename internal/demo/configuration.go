package demo

import (
	"fmt"

	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/integration"
	"tocsin/internal/route"
	"tocsin/internal/template"
)

const officeDays = "cal.BergfinkOfficeDays0001"

func calendars(m moments) []calendar.Calendar {
	return []calendar.Calendar{
		{
			AccountID:   accountID,
			TeamID:      platform,
			CalID:       officeDays,
			CalName:     "Büro Berlin",
			Description: "When somebody is in the office anyway.",
			TimeZone:    timeZone,
			Kind:        "personal",
			Workdays:    []int64{1, 2, 3, 4, 5},
			ExtraCalIDs: []string{},
			CreatorID:   anna,
			UpdatedBy:   anna,
			CreatedAt:   m.yearAgo(0, 10).Unix(),
			UpdatedAt:   m.ago(30 * day).Unix(),
			Status:      "enabled",
		},
	}
}

// publicHolidays are those with a fixed date, in the order of the year: the first day, and the day after the last.
var publicHolidays = []struct{ name, first, after string }{
	{"Neujahr", "01-01", "01-02"},
	{"Tag der Arbeit", "05-01", "05-02"},
	{"Tag der Deutschen Einheit", "10-03", "10-04"},
	{"Weihnachten", "12-25", "12-27"},
}

// holidays returns the public holidays of the last year, this one and the next two.
func holidays(m moments) (all []calendar.Event) {
	for year := m.now.Year() - 1; year <= m.now.Year()+2; year++ {
		for i, h := range publicHolidays {
			all = append(all, calendar.Event{
				AccountID: accountID,
				CreatorID: anna,
				CalID:     officeDays,
				EventID:   fmt.Sprintf("cale.Bergfink%dHoliday%d", year, i),
				Summary:   h.name,
				StartAt:   fmt.Sprintf("%d-%s", year, h.first),
				EndAt:     fmt.Sprintf("%d-%s", year, h.after),
				IsOff:     true,
				CreatedAt: m.yearAgo(0, 10).Unix(),
				UpdatedAt: m.yearAgo(0, 10).Unix(),
			})
		}
	}
	return all
}

func templates(m moments) []template.Template {
	return []template.Template{
		{
			AccountID:    accountID,
			TeamID:       platform,
			TemplateID:   object(kindTemplate, 1),
			TemplateName: "Kurz und auf Deutsch",
			Description:  "For people who read it half asleep.",
			Texts: template.Texts{
				SMS:   `{{.Severity}}: {{truncate 100 .Title}} ({{.Channel}}){{with .AckLink}} Übernehmen: {{.}}{{end}}`,
				Slack: `{{emoji .Severity}} *{{.Title}}* · {{.Channel}} · seit {{date .TimeZone .StartTime}}`,
			},
			Status:    "enabled",
			CreatorID: anna,
			UpdatedBy: jonas,
			CreatedAt: m.yearAgo(0, 11).Unix(),
			UpdatedAt: m.ago(12 * day).Unix(),
		},
		{ // written for another product of this API: the names and functions of its templates work
			AccountID:    accountID,
			TeamID:       checkout,
			TemplateID:   object(kindTemplate, 2),
			TemplateName: "Taken over from the old tool",
			Description:  "Its variables and functions are those of the public template language.",
			Texts: template.Texts{
				Email: `<p>{{fireReason .}}<b>{{toHtml .Title}}</b> is {{.IncidentSeverity}}: {{.AlertCnt}} alerts in {{.ChannelName}}, ` +
					`since {{date "15:04" .StartTime}}{{if .Fields.impact}}, impact: {{.Fields.impact}}{{end}}</p>`,
				SMS:   `{{fireReason .}}{{upper .IncidentSeverity}} {{.Title}} ({{.ChannelName}}, {{.AlertCnt}} alerts)`,
				Slack: `{{fireReason .}}{{.Title}} · {{.IncidentSeverity}} · {{joinAlertLabels . "resource" ", "}}`,
			},
			Status:    "enabled",
			CreatorID: zoe,
			UpdatedBy: zoe,
			CreatedAt: m.yearAgo(3, 11).Unix(),
			UpdatedAt: m.ago(40 * day).Unix(),
		},
	}
}

func escalateRules(m moments) []channel.EscalateRule {
	onCall := func(schedule int64) channel.Target {
		return channel.Target{ScheduleToRoleIDs: map[string][]int64{fmt.Sprint(schedule): {0}}, By: &channel.By{FollowPreference: new(true)}}
	}
	everybody := func(team int64) channel.Target {
		return channel.Target{
			TeamIDs: []int64{team},
			By:      &channel.By{Critical: []string{"voice", "sms"}, Warning: []string{"email"}, Info: []string{"email"}},
		}
	}
	urgent := func(t channel.Target) channel.Target { // a rise to Critical adds a call and a text message
		t.By = &channel.By{Critical: []string{"voice", "sms"}, Warning: []string{"email"}, Info: []string{"email"}}
		return t
	}
	first := func(t channel.Target) channel.Layer {
		return channel.Layer{MaxTimes: new(int64(2)), NotifyStep: new(5.0), EscalateWindow: new(int64(15)), Target: t}
	}
	rules := []channel.EscalateRule{
		{Rule: rule(payments, 0, "Rufbereitschaft, dann alle", "Money does not wait."), Layers: []channel.Layer{
			{
				MaxTimes:       new(int64(1)),
				NotifyStep:     new(0.5),
				EscalateWindow: new(int64(1)),
				Target:         onCall(checkoutClock),
			},
			{Target: everybody(checkout)},
		}},
		{Rule: rule(basket, 0, "Rufbereitschaft", ""), Layers: []channel.Layer{first(onCall(checkoutClock)), {Target: onCall(managers)}}},
		{Rule: rule(databases, 0, "Plattform", ""), Layers: []channel.Layer{first(urgent(onCall(platformOnCall))), {Target: onCall(managers)}}},
		{Rule: rule(network, 0, "Plattform", ""), Layers: []channel.Layer{first(onCall(platformOnCall)), {Target: everybody(platform)}}},
		{Rule: rule(warehouse, 0, "Lager", "Only while somebody is there."), Layers: []channel.Layer{first(onCall(warehouseHandover))},
			TimeFilters: []channel.TimeFilter{{Start: "05:00", End: "21:00", Repeat: []int{}, CalID: new(officeDays)}}},
	}
	for i := range rules {
		rules[i].TemplateID = object(kindTemplate, 1)
		if rules[i].ChannelID == basket {
			rules[i].TemplateID = object(kindTemplate, 2)
		}
		if rules[i].TimeFilters == nil {
			rules[i].TimeFilters = []channel.TimeFilter{}
		}
		rules[i].Filters = filter.Filter{}
	}
	return numbered(m, kindEscalate, rules, func(r *channel.EscalateRule) *channel.Rule { return &r.Rule })
}

// integrations returns the integrations of the account's alerts and webhooks. The sources get new keys at each start.
func integrations(m moments) (all []integration.Integration) {
	stamped := func(i integration.Integration) integration.Integration {
		i.AccountID = accountID
		i.Status = "enabled"
		i.CreatorID = anna
		i.UpdatedBy = jonas
		i.CreatedAt, i.UpdatedAt = m.yearAgo(0, 9).Unix(), m.ago(20*day).Unix()
		return i
	}
	for _, in := range intakes {
		kind := in.kind
		if kind == "rum" {
			kind = "standard" // errors of browsers are received like any other alert
		}
		i := integration.Integration{IntegrationID: in.id, IntegrationName: in.name, IntegrationType: kind, RefID: in.ref, TeamID: platform}
		if in.id == standardIntake {
			i.ChannelID = warehouse
		}
		all = append(all, stamped(i))
	}
	all = append(all, stamped(integration.Integration{
		IntegrationID: deployments, IntegrationName: "Deployments", IntegrationType: integration.Change,
		RefID: "Wd6pTz3hQnXb8sKvLr2gCy", TeamID: platform,
	}))
	slack := stamped(integration.Integration{
		IntegrationID: slackApp, IntegrationName: "Slack", IntegrationType: integration.SlackApp, TeamID: platform,
		Settings: &integration.Settings{App: map[string]string{"token": "demo-slack-token", "base_url": nowhere}, WarRoomEnabled: true},
	})
	slack.CreatedAt = m.yearAgo(0, 8).Unix() // lists begin with the sources of alerts
	all = append(all, slack)
	names := map[int64]string{chat: "Team chat", tickets: "Tickets", statusPage: "Status page", lake: "Data lake", erp: "ERP"}
	for _, s := range subscribers {
		kind, events := integration.WebhookIncident, []string{}
		if s.events[0][0] == 'a' {
			kind = integration.WebhookAlert
		}
		for _, e := range s.events {
			if e[0] == s.events[0][0] { // a webhook receives events of alerts or of incidents, never both
				events = append(events, e)
			}
		}
		all = append(all, stamped(integration.Integration{
			IntegrationID:   s.integration,
			IntegrationName: names[s.integration],
			IntegrationType: kind,
			TeamID:          platform,
			Settings:        &integration.Settings{Endpoint: s.endpoint, EventTypes: events},
		}))
	}
	return all
}

func routes(m moments) (all []route.Route) {
	for _, id := range []int64{prometheusIntake, grafanaIntake, rumIntake} {
		all = append(all, route.Route{
			IntegrationID: id,
			Status:        "enabled",
			Version:       1,
			CreatorID:     anna,
			UpdatedBy:     anna,
			CreatedAt:     m.yearAgo(0, 9).Unix(),
			UpdatedAt:     m.yearAgo(0, 9).Unix(),
			Cases:         routeCases(),
			Default:       &route.Default{ChannelIDs: []int64{shopFront}},
		})
	}
	return all
}

// routeCases returns the cases that all routes had at first.
func routeCases() []route.Case {
	return []route.Case{
		toChannels("payment-*", payments),
		toChannels("basket", basket),
		toChannels("*-db", databases),
		toChannels("/^shop-(ios|android)$/", apps),
	}
}

func toChannels(service string, channels ...int64) route.Case {
	return route.Case{If: []filter.Condition{in("labels.service", service)}, ChannelIDs: channels}
}
