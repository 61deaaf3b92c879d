package webhook

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	integrations "tocsin/internal/integration"
)

// This file has the forms of what sends messages out: webhooks, and apps of chat services.

var outgoingPages = []page.Page{
	{Path: "/endpoints/new", Template: "record", Tab: "messages", Show: newHook, Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/edit", Template: "record", Tab: "messages", Show: editHook, Needs: page.ManageIntegrations},
	{Path: "/chat-apps", Template: "records", Tab: "messages", Show: showApps},
	{Path: "/chat-apps/new", Template: "record", Tab: "messages", Show: newApp, Needs: page.ManageIntegrations},
	{Path: "/chat-apps/{id}", Template: "record", Tab: "messages", Show: editApp},
}

var outgoingActions = []page.Action{
	{Path: "/endpoints/new", Do: createHook, Show: newHook, Template: "record", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/edit", Do: saveHook, Show: editHook, Template: "record", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/delete", Do: deleteTo("/endpoints"), Needs: page.ManageIntegrations},
	{Path: "/chat-apps/new", Do: createApp, Show: newApp, Template: "record", Needs: page.ManageIntegrations},
	{Path: "/chat-apps/{id}", Do: saveApp, Show: editApp, Template: "record", Needs: page.ManageIntegrations},
	{Path: "/chat-apps/{id}/status/{to}", Do: setAppStatus, Needs: page.ManageIntegrations},
	{Path: "/chat-apps/{id}/delete", Do: deleteTo("/chat-apps"), Needs: page.ManageIntegrations},
}

var hookForm = page.Form{Operations: []string{"/integration/create", "/integration/update"}, Members: []page.Member{
	{Path: "integration_name", Label: "Name"},
	{Path: "settings.endpoint", Label: "Address that receives the messages",
		Hint: "https://… or http://…, without a user name or password."},
	{Path: "settings.channel_ids", Label: "Only what happens in these channels", Kind: page.Channels,
		Hint: "Without a channel: in all but private ones."},
	{Path: "settings.sign_secret", Label: "Secret that signs the messages", Kind: page.Secret,
		Hint: "Empty: it stays as it is. Without any, messages are not signed."},
	{Path: "settings.headers", Label: "Further headers, one name: value on each line", Kind: page.Secret,
		Hint: "Values are not shown. A name without a value keeps the stored one."},
	{Path: "team_id", Label: "Team", Kind: page.Teams},
	{Path: "description", Label: "Description", Seldom: true},
	{Path: "settings.insecure_skip_verify", Label: "Accept any certificate of the receiver", Seldom: true},
	{Path: "ref_id", Label: "Its key in another system", Seldom: true},
}}

var incidentHookForm = page.Form{Operations: []string{"/integration/create", "/integration/update"}, Members: []page.Member{
	{Path: "settings.event_types", Label: "What it receives", Hint: "Nothing chosen: everything.", Choices: incidentEvents},
	{Path: "settings.body", Label: "A body of its own", Kind: page.Long, Seldom: true,
		Hint: "The path of a field in double braces stands for that field of the standard body, which is sent without a text."},
}}

var alertHookForm = page.Form{Operations: []string{"/integration/create", "/integration/update"}, Members: []page.Member{
	{Path: "settings.event_types", Label: "What it receives", Hint: "Nothing chosen: everything.", Choices: alertEvents},
}}

func incidentEvents(v *page.Visit) ([]page.Option, error) {
	return eventOptions(v, integrations.IncidentEvents), nil
}

func alertEvents(v *page.Visit) ([]page.Option, error) {
	return eventOptions(v, integrations.AlertEvents), nil
}

func eventOptions(v *page.Visit, kinds []string) (options []page.Option) {
	for _, kind := range kinds {
		options = append(options, page.Option{Value: kind, Text: eventWord(v, kind)})
	}
	return options
}

// hookForms returns the forms of a type of webhook.
func hookForms(kind string) []page.Form {
	if kind == integrations.WebhookAlert {
		return []page.Form{hookForm, alertHookForm}
	}
	return []page.Form{hookForm, incidentHookForm}
}

// hookKind returns the type of a new webhook.
func hookKind(v *page.Visit) string {
	if v.Query("type") == integrations.WebhookAlert {
		return integrations.WebhookAlert
	}
	return integrations.WebhookIncident
}

func newHook(v *page.Visit) (page.View, error) {
	i := integrations.Integration{IntegrationType: hookKind(v), Settings: &integrations.Settings{}}
	d := page.RecordForm{Titled: page.Titled(v.T("New webhook")), Back: "/endpoints", May: true}
	d.Path = "/endpoints/new?type=" + i.IntegrationType
	for _, kind := range []string{integrations.WebhookIncident, integrations.WebhookAlert} {
		link := page.Link{Path: "/endpoints/new?type=" + kind, Text: v.IntegrationType(kind)}
		d.Tabs = append(d.Tabs, page.TabLink{Link: link, Here: kind == i.IntegrationType})
	}
	return drawHook(v, &d, i)
}

func editHook(v *page.Visit) (page.View, error) {
	i, err := outgoing(v, (*integrations.Integration).IsWebhook)
	if err != nil {
		return nil, err
	}
	path := hookPath(i.IntegrationID)
	d := page.RecordForm{Titled: page.Titled(i.IntegrationName), Back: path, Path: path + "/edit", Delete: path + "/delete", May: true}
	return drawHook(v, &d, i)
}

func drawHook(v *page.Visit, d *page.RecordForm, i integrations.Integration) (page.View, error) {
	for _, form := range hookForms(i.IntegrationType) {
		if err := form.Draw(v, d, i); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// outgoing returns the integration that the address names, if it is of a kind.
func outgoing(v *page.Visit, is func(*integrations.Integration) bool) (integrations.Integration, error) {
	i, err := page.Call[integrations.Info](v, "/integration/info", integrations.OneRequest{IntegrationID: v.ID()})
	if err == nil && (!is(&i.Integration) || i.Settings == nil) {
		err = page.NotHere(v)
	}
	return i.Integration, err
}

func hookPath(id int64) string { return "/endpoints/" + strconv.FormatInt(id, 10) }

func createHook(v *page.Visit) (string, error) {
	request := integrations.CreateRequest{IntegrationType: hookKind(v)}
	for _, form := range hookForms(request.IntegrationType) {
		if err := form.Read(v, &request); err != nil {
			return "", err
		}
	}
	made, err := page.Call[integrations.Created](v, "/integration/create", request)
	return hookPath(made.IntegrationID), err
}

func saveHook(v *page.Visit) (string, error) {
	i, err := outgoing(v, (*integrations.Integration).IsWebhook)
	if err != nil {
		return "", err
	}
	request := integrations.UpdateRequest{IntegrationID: i.IntegrationID}
	for _, form := range hookForms(i.IntegrationType) {
		if err := form.Read(v, &request); err != nil {
			return "", err
		}
	}
	return hookPath(i.IntegrationID) + "?done=saved", page.Do[api.Warnings](v, "/integration/update", request)
}

// deleteTo returns the action that deletes an integration and leads to a list.
func deleteTo(list string) func(*page.Visit) (string, error) {
	return func(v *page.Visit) (string, error) {
		request := integrations.DeleteRequest{OneRequest: integrations.OneRequest{IntegrationID: v.ID()}}
		return list, page.Do[api.Removal](v, "/integration/delete", request)
	}
}
