package monitor

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"tocsin/internal/alertrule"
	"tocsin/internal/console/page"
)

// This file has the form that sets the same for several rules that were chosen in the list, a part of them at a time.

var chosenRulePages = []page.Page{{Path: "/rules/change", Template: "record", Tab: "rules", Show: showChosenRules, Needs: manageRules}}

var chosenRuleActions = []page.Action{
	{Path: "/rules/change", Do: saveChosenRules, Show: showChosenRules, Template: "record", Needs: manageRules},
}

// chosenPart is what is set together.
type chosenPart struct {
	name, text string
	form       page.Form
}

var chosenParts = []chosenPart{
	{"labels", "Labels", page.Form{Operations: []string{"/monit/rule/update/fields"}, Members: []page.Member{
		{Path: "labels", Label: "Labels, one name: value on each line"},
	}}},
	{"channels", "Channels", page.Form{Operations: []string{"/monit/rule/update/fields"}, Members: []page.Member{
		{Path: "channel_ids", Label: "Channels", Kind: page.Channels, Hint: "Without a channel the route of the integration Monitors decides."},
	}}},
	{"schedule", "When it asks", page.Form{Operations: []string{"/monit/rule/update/fields"}, Members: []page.Member{
		{Path: "cron_pattern", Label: "How often",
			Hint: "@every and a duration, or a pattern of cron: minute, hour, day, month, day of the week."},
		{Path: "timezone", Label: "Time zone", Hint: "Such as Europe/Berlin. Empty: that of the account."},
		{Path: "delay_seconds", Label: "Seconds that the data arrives late", Hint: "The queries ask about so much earlier."},
	}}},
	{"hours", "Only at certain hours", page.Form{Operations: []string{"/monit/rule/update/fields"}, Members: []page.Member{
		{Path: "enabled_times", Label: "Times of the week",
			Hint: "Alerts begin only in these hours, in the rule's time zone. An alert that is open ends at any time.",
			Rows: windowMembers, New: newWindow},
	}}},
	{"sources", "Datasources", page.Form{Operations: []string{"/monit/rule/update/fields"}, Members: []page.Member{
		{Path: "ds_type", Label: "Kind", Choices: datasourceKinds},
		{Path: "ds_ids", Label: "Datasources", Choices: datasourceChoices},
		{Path: "ds_list", Label: "Or all with these names",
			Hint: "One on each line; * stands for any characters. Datasources of later days match too."},
	}}},
	{"texts", "Description", page.Form{Operations: []string{"/monit/rule/update/fields"}, Members: []page.Member{
		{Path: "description", Label: "Description of the alerts", Kind: page.Long, Hint: "A template over the labels and values of the alert."},
		{Path: "annotations", Label: "Texts for the description, one name: value on each line"},
	}}},
	{"repeats", "Repeats", page.Form{Operations: []string{"/monit/rule/update/fields"}, Members: []page.Member{
		{Path: "repeat_interval", Label: "Seconds after which an alert that goes on is sent again", Hint: "No person is notified again."},
		{Path: "repeat_total", Label: "How often it is sent again at most", Hint: "0: without end."},
	}}},
	{"debug", "Debug log", page.Form{Operations: []string{"/monit/rule/update/fields"}, Members: []page.Member{
		{Path: "debug_log_enabled", Label: "Debug log", Hint: "A mark for other programs: what is evaluated is kept for every rule."},
	}}},
}

// fields returns the members that a part sets.
func (p chosenPart) fields() (names []string) {
	for _, m := range p.form.Members {
		names = append(names, m.Path)
	}
	return names
}

// partOfChosen returns the part of the address, else the first.
func partOfChosen(v *page.Visit) chosenPart {
	at := slices.IndexFunc(chosenParts, func(p chosenPart) bool { return p.name == v.Query("part") })
	return chosenParts[max(at, 0)]
}

// chosenIDs returns the rules of the address.
func chosenIDs(v *page.Visit) (ids []uint64, err error) {
	for _, text := range v.Request.URL.Query()["rule"] {
		ids = append(ids, page.Unsigned(text))
	}
	if len(ids) == 0 {
		return nil, page.Wrong(v.T("Choose at least one rule."))
	}
	return ids, nil
}

// showChosenRules shows a part of the rules, as the first of them has it.
func showChosenRules(v *page.Visit) (page.View, error) {
	ids, err := chosenIDs(v)
	if err != nil {
		return nil, err
	}
	first, err := alertRule(v, ids[0])
	if err != nil {
		return nil, err
	}
	names, err := ruleNames(v)
	if err != nil {
		return nil, err
	}
	part := partOfChosen(v)
	d := page.RecordForm{Titled: page.Titled(v.T("Change the chosen rules")), Back: "/rules", Path: v.Path(), May: true}
	for _, one := range chosenParts {
		query := v.Request.URL.Query()
		query.Set("part", one.name)
		link := page.Link{Path: "/rules/change?" + query.Encode(), Text: v.T(one.text)}
		d.Tabs = append(d.Tabs, page.TabLink{Link: link, Here: one.name == part.name})
	}
	list := page.RecordPart{Title: v.T("Rules")}
	for _, id := range ids {
		list.Rows = append(list.Rows, page.RecordRow{Path: fmt.Sprintf("/rules/%d", id), Name: names[id]})
	}
	d.Lists = append(d.Lists, list)
	if kept, _ := v.Made.([]alertrule.Done); kept != nil {
		d.Shown = keptRules(v, kept)
	}
	return &d, part.form.Draw(v, &d, first)
}

// keptRules shows the rules that were not changed, with the reasons.
func keptRules(v *page.Visit, kept []alertrule.Done) *page.Displayed {
	d := &page.Displayed{Title: v.T("These rules stay as they were:")}
	for _, one := range kept {
		d.Text += one.Name + ": " + v.Words(one.Message).Text + "\n"
	}
	return d
}

// ruleNames returns the names of all rules by id.
func ruleNames(v *page.Visit) (map[uint64]string, error) {
	all, err := page.Call[[]alertrule.Basic](v, "/monit/rule/list/basic", alertrule.ListRequest{})
	names := map[uint64]string{}
	for _, r := range all {
		names[r.ID] = r.Name
	}
	return names, err
}

func saveChosenRules(v *page.Visit) (string, error) {
	ids, err := chosenIDs(v)
	if err != nil {
		return "", err
	}
	part := partOfChosen(v)
	request := alertrule.FieldsRequest{IDs: ids, Fields: part.fields()}
	if err := part.form.Read(v, &request); err != nil {
		return "", err
	}
	done, err := page.Call[[]alertrule.Done](v, "/monit/rule/update/fields", request)
	return keepOr(v, done, "/rules", err)
}

// keepOr returns the next address, or shows the page again with the rules that were not changed.
func keepOr(v *page.Visit, done []alertrule.Done, next string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	kept := slices.DeleteFunc(done, func(one alertrule.Done) bool { return one.Message == "" })
	if len(kept) == 0 {
		return next, nil
	}
	v.Made = kept
	return "", nil
}

// changeLink returns the address of the form for rules that were chosen.
func changeLink(ids []uint64) string {
	query := url.Values{}
	for _, id := range ids {
		query.Add("rule", strconv.FormatUint(id, 10))
	}
	return "/rules/change?" + query.Encode()
}
