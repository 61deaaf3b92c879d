package webhook

import (
	"cmp"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	integrations "tocsin/internal/integration"
)

// appTypes are the chat services.
var appTypes = []string{
	integrations.SlackApp, integrations.FeishuApp, integrations.DingTalkApp, integrations.WeComApp, integrations.TeamsApp,
}

var appForm = page.Form{Operations: []string{"/integration/create", "/integration/update"}, Members: []page.Member{
	{Path: "integration_name", Label: "Name"},
	{Path: "settings.war_room_enabled", Label: "War rooms are opened with it"},
	{Path: "team_id", Label: "Team", Kind: page.Teams},
	{Path: "description", Label: "Description", Seldom: true},
	{Path: "ref_id", Label: "Its key in another system", Seldom: true},
}}

// credential returns the label of the input of a credential, and what is to be entered.
func credential(v *page.Visit, name string) (label, hint string) {
	switch name {
	case "token":
		return v.T("Bot token"), v.T("It begins with xoxb-.")
	case "private":
		return v.T("War rooms are private channels"), ""
	case "base_url":
		return v.T("Address of its API"), v.T("Empty: that of the service.")
	case "owner":
		return v.T("Owner of the groups"), v.T("The id that the service has of the person.")
	}
	return cmp.Or(credentialNames[name], name), ""
}

// credentialNames are the names that services have for credentials, in every language.
var credentialNames = map[string]string{
	"app_id": "App ID", "app_key": "App key", "app_secret": "App secret", "corp_id": "Corp ID", "secret": "Secret", "agent_id": "Agent ID",
	"tenant_id": "Tenant ID",
}

// appInput is the name of the input of a credential.
func appInput(name string) string { return "app." + name }

// drawApp adds the inputs of an app: its credentials stand after its name.
func drawApp(v *page.Visit, d *page.RecordForm, i integrations.Integration) (page.View, error) {
	if err := appForm.Draw(v, d, i); err != nil {
		return nil, err
	}
	inputs := []page.FormField{}
	for _, c := range integrations.Credentials(i.IntegrationType) {
		f := page.FormField{Name: appInput(c.Name), Kind: "text", Value: v.Typed(appInput(c.Name), i.Settings.App[c.Name])}
		f.Label, f.Hint = credential(v, c.Name)
		switch {
		case c.Secret:
			f.Kind, f.Value = "password", v.Field(f.Name)
			if i.Settings.App[c.Name] != "" {
				f.Hint = v.T("Empty: it stays as it is.")
			}
		case c.Name == "private":
			f.Kind = "choice"
			f.Options = []page.Option{{Value: "", Text: v.T("No")}, {Value: "true", Text: v.T("Yes")}}
			if f.Value == "false" {
				f.Value = ""
			}
		}
		inputs = append(inputs, f)
	}
	d.Fields = slices.Insert(d.Fields, 1, inputs...)
	return d, nil
}

// readApp reads the form of an app. A secret that is empty stays.
func readApp(v *page.Visit, kind string, request any, settings **integrations.Settings) error {
	if err := appForm.Read(v, request); err != nil {
		return err
	}
	if *settings == nil {
		*settings = &integrations.Settings{}
	}
	(*settings).App = map[string]string{}
	for _, c := range integrations.Credentials(kind) {
		if value := v.Field(appInput(c.Name)); value != "" || c.Secret || c.Required {
			(*settings).App[c.Name] = value
		}
	}
	return nil
}

func showApps(v *page.Visit) (page.View, error) {
	d := page.RecordList{Titled: page.Titled(v.T("Chat apps")), None: v.T("There is no chat app yet."),
		Intro: v.T("An app opens war rooms in a chat service and notifies people there.")}
	if v.Who.MayAny(page.ManageIntegrations) {
		d.New, d.NewText = "/chat-apps/new", v.T("New chat app")
	}
	err := page.ByPage[api.CursorPage[integrations.Integration]](v, "/integration/list", integrations.ListRequest{},
		func(items []integrations.Integration) bool {
			for _, i := range items {
				if i.IsApp() {
					d.Rows = append(d.Rows, appRow(v, i))
				}
			}
			return true
		})
	return d, err
}

func appRow(v *page.Visit, i integrations.Integration) page.RecordRow {
	row := page.RecordRow{Path: appPath(i.IntegrationID), Name: i.IntegrationName, About: i.Description,
		Tags: []string{v.IntegrationType(i.IntegrationType)}}
	if i.Status != "enabled" {
		row.Warnings = append(row.Warnings, v.T("Disabled"))
	}
	if i.Settings != nil && i.Settings.WarRoomEnabled {
		row.Tags = append(row.Tags, v.T("War rooms"))
	}
	return row
}

func appPath(id int64) string { return "/chat-apps/" + strconv.FormatInt(id, 10) }

// appKind returns the type of a new app.
func appKind(v *page.Visit) string {
	if kind := v.Query("type"); integrations.Credentials(kind) != nil {
		return kind
	}
	return integrations.SlackApp
}

func newApp(v *page.Visit) (page.View, error) {
	i := integrations.Integration{IntegrationType: appKind(v), Settings: &integrations.Settings{}}
	i.IntegrationName = v.IntegrationType(i.IntegrationType)
	d := page.RecordForm{Titled: page.Titled(v.T("New chat app")), Back: "/chat-apps", May: true}
	d.Path = "/chat-apps/new?type=" + i.IntegrationType
	for _, kind := range appTypes {
		link := page.Link{Path: "/chat-apps/new?type=" + kind, Text: v.IntegrationType(kind)}
		d.Tabs = append(d.Tabs, page.TabLink{Link: link, Here: kind == i.IntegrationType})
	}
	return drawApp(v, &d, i)
}

func editApp(v *page.Visit) (page.View, error) {
	i, err := outgoing(v, (*integrations.Integration).IsApp)
	if err != nil {
		return nil, err
	}
	path := appPath(i.IntegrationID)
	d := page.RecordForm{Titled: page.Titled(i.IntegrationName), Back: "/chat-apps", Path: path, Delete: path + "/delete",
		May: v.Who.MayAny(page.ManageIntegrations)}
	status := page.RecordPart{Title: v.T("Disable"), None: v.T("Nothing is sent with it until it is enabled again."),
		Form: &page.RecordForm{Path: path + "/status/disable", May: true, SaveText: v.T("Disable")}}
	if i.Status != "enabled" {
		status = page.RecordPart{Title: v.T("Enable"), None: v.T("Nothing is sent with it until it is enabled again."),
			Form: &page.RecordForm{Path: path + "/status/enable", May: true, SaveText: v.T("Enable")}}
	}
	if d.May {
		d.Lists = append(d.Lists, status)
	}
	return drawApp(v, &d, i)
}

func createApp(v *page.Visit) (string, error) {
	request := integrations.CreateRequest{IntegrationType: appKind(v)}
	if err := readApp(v, request.IntegrationType, &request, &request.Settings); err != nil {
		return "", err
	}
	return "/chat-apps", page.Do[integrations.Created](v, "/integration/create", request)
}

func saveApp(v *page.Visit) (string, error) {
	i, err := outgoing(v, (*integrations.Integration).IsApp)
	if err != nil {
		return "", err
	}
	request := integrations.UpdateRequest{IntegrationID: i.IntegrationID}
	if err := readApp(v, i.IntegrationType, &request, &request.Settings); err != nil {
		return "", err
	}
	return "/chat-apps", page.Do[api.Warnings](v, "/integration/update", request)
}

// setAppStatus enables or disables an app.
func setAppStatus(v *page.Visit) (string, error) {
	one := integrations.OneRequest{IntegrationID: v.ID()}
	switch v.Request.PathValue("to") {
	case "enable":
		return appPath(one.IntegrationID), page.Do[api.Empty](v, "/integration/enable", one)
	case "disable":
		return appPath(one.IntegrationID), page.Do[api.Empty](v, "/integration/disable", one)
	}
	return "", page.NotHere(v)
}
