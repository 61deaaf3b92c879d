package configuration

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/engine/untold"
	"tocsin/internal/person"
)

var accountPages = []page.Page{
	{Path: "/account", Template: "record", Tab: "account", Show: showAccount},
	{Path: "/account/fallback", Template: "record", Tab: "account", Show: showFallback},
}

var accountActions = []page.Action{
	{Path: "/account", Do: saveAccount, Show: showAccount, Template: "record", Needs: page.Rights{auth.MembersManage}},
	{Path: "/account/fallback", Do: saveFallback, Show: showFallback, Template: "record", Needs: page.Rights{auth.MembersManage}},
}

var accountForm = page.Form{Operations: []string{"/account/update"}, Members: []page.Member{
	{Path: "account_name", Label: "Name"},
	{Path: "time_zone", Label: "Time zone",
		Hint: "Such as Europe/Berlin. Schedules, rules and persons without a zone of their own follow it at once."},
}}

var fallbackForm = page.Form{Operations: []string{"/account/fallback/update"}, Members: []page.Member{
	{Path: "person_ids", Label: "People", Kind: page.People},
	{Path: "team_ids", Label: "Teams", Kind: page.Teams},
	{Path: "escalate_rule_id", Label: "Escalation rule", Choices: escalationRules,
		Hint: "The persons of its first step of which one can be reached. Without people, teams and a rule it is the owner."},
}}

// accountTabs leads from one form of the account to the other.
func accountTabs(v *page.Visit, here string) []page.TabLink {
	tabs := []page.TabLink{}
	for _, l := range []page.Link{{Path: "/account", Text: v.T("Account")}, {Path: "/account/fallback", Text: v.T("When nobody is told")}} {
		tabs = append(tabs, page.TabLink{Link: l, Here: l.Path == here})
	}
	return tabs
}

func accountRecord(v *page.Visit, title, path string) page.RecordForm {
	return page.RecordForm{Titled: page.Titled(title), Path: path, Back: "/setup", May: v.Who.May(auth.MembersManage),
		Tabs: accountTabs(v, path)}
}

func showAccount(v *page.Visit) (page.View, error) {
	d := accountRecord(v, v.T("Account"), "/account")
	a, err := page.Call[person.AccountInfo](v, "/account/info", api.Empty{})
	if err != nil {
		return nil, err
	}
	return &d, accountForm.Draw(v, &d, a)
}

func saveAccount(v *page.Visit) (string, error) {
	var request person.AccountUpdateRequest
	if err := accountForm.Read(v, &request); err != nil {
		return "", err
	}
	return "/account", page.Do[person.AccountInfo](v, "/account/update", request)
}

func showFallback(v *page.Visit) (page.View, error) {
	d := accountRecord(v, v.T("When nobody is told"), "/account/fallback")
	f, err := page.Call[untold.Fallback](v, "/account/fallback/info", api.Empty{})
	if err != nil {
		return nil, err
	}
	return &d, fallbackForm.Draw(v, &d, f)
}

func saveFallback(v *page.Visit) (string, error) {
	var request untold.UpdateRequest
	if err := fallbackForm.Read(v, &request); err != nil {
		return "", err
	}
	return "/account/fallback", page.Do[untold.Updated](v, "/account/fallback/update", request)
}

// escalationRules returns the escalation rules of all channels that the visitor may read.
func escalationRules(v *page.Visit) ([]page.Option, error) {
	options := []page.Option{{Value: "", Text: v.T("None")}}
	if !v.Who.May(auth.ChannelsRead) {
		return options, nil
	}
	channels, err := v.ChannelChoices()
	if err != nil {
		return nil, err
	}
	for _, c := range channels {
		rules, err := page.Call[channel.RulePage[channel.EscalateRule]](v, "/channel/escalate/rule/list",
			channel.RulesRequest{ChannelID: c.ChannelID})
		if err != nil {
			return nil, err
		}
		for _, r := range rules.Items {
			options = append(options, page.Option{Value: r.RuleID, Text: c.ChannelName + ": " + r.RuleName})
		}
	}
	return options, nil
}
