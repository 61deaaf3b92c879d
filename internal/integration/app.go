package integration

import (
	"net/url"
	"slices"
	"strconv"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Types of apps of chat services, which open groups and notify persons there (docs/senders.md).
const (
	SlackApp    = "slack_app"
	FeishuApp   = "feishu_app"
	DingTalkApp = "dingtalk_app"
	WeComApp    = "wecom_app"
	TeamsApp    = "teams_app" // is stored, but cannot open groups or notify persons
)

// Credential is a member of settings.app.
type Credential struct {
	Name     string
	Secret   bool
	Required bool
}

// apps lists the credentials of each type of app.
var apps = map[string][]Credential{
	SlackApp:  {{"token", true, true}, {"private", false, false}, {"base_url", false, false}},
	FeishuApp: {{"app_id", false, true}, {"app_secret", true, true}, {"base_url", false, false}},
	DingTalkApp: {{"app_key", true, true}, {"app_secret", true, true}, {"owner", false, false}, {"agent_id", false, false},
		{"base_url", false, false}},
	WeComApp: {{"corp_id", false, true}, {"secret", true, true}, {"owner", false, false}, {"agent_id", false, false},
		{"base_url", false, false}},
	TeamsApp: {{"tenant_id", false, false}, {"app_id", false, false}, {"app_secret", true, false}},
}

// Credentials returns the members of settings.app of a type of apps; none for another type.
func Credentials(kind string) []Credential { return slices.Clone(apps[kind]) }

// open lists the members of settings.app that are not secret in any type. Unknown members are treated as secrets.
var open = []string{"private", "base_url", "app_id", "corp_id", "tenant_id", "owner", "agent_id"}

// IsApp reports whether the integration is an app of a chat service.
func (i *Integration) IsApp() bool { return apps[i.IntegrationType] != nil }

// IsSource reports whether the integration sends events to Tocsin, for which it needs a key.
func (i *Integration) IsSource() bool {
	return !i.IsWebhook() && !i.IsApp() && i.IntegrationType != Monitors
}

// OpensGroups reports whether war rooms can be opened with the app.
func (i *Integration) OpensGroups() bool { return i.IsApp() && i.IntegrationType != TeamsApp }

// checkApp returns fault.Invalid for settings that do not fit the type of app. A secret may be empty, as it is in an
// account file without secrets.
func (s *Settings) checkApp(at configstore.RecordPath, kind string) error {
	known := apps[kind]
	app := at.Member("app")
	for name, value := range s.App {
		if !slices.ContainsFunc(known, func(c Credential) bool { return c.Name == name }) {
			return app.Invalid(name, "is not a setting of a %s", kind)
		}
		if err := app.Length(name, value, 0, 2048); err != nil {
			return err
		}
	}
	for _, c := range known {
		if value, there := s.App[c.Name]; c.Required && (!there || value == "" && !c.Secret) {
			return app.Invalid(c.Name, "is required for a %s", kind)
		}
	}
	if err := app.OneOf("private", s.App["private"], "", "true", "false"); err != nil {
		return err
	}
	if agent := s.App["agent_id"]; agent != "" {
		if n, err := strconv.ParseInt(agent, 10, 64); err != nil || n < 0 {
			return app.Invalid("agent_id", "must be a number, got %q", agent)
		}
	}
	if base := s.App["base_url"]; base != "" {
		if u, err := url.Parse(base); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return app.Invalid("base_url", "must be an http or https URL without user name and password")
		}
	}
	if s.WarRoomEnabled && kind == TeamsApp {
		return at.Invalid("war_room_enabled", "cannot be on: Tocsin cannot open groups in Microsoft Teams")
	}
	return nil
}

// requireSecrets returns fault.Invalid for an app without one of its required credentials.
func (i *Integration) requireSecrets() error {
	for _, c := range apps[i.IntegrationType] {
		if c.Required && i.Settings.App[c.Name] == "" {
			return configstore.RecordPath("settings.app").Invalid(c.Name, "is required for a %s", i.IntegrationType)
		}
	}
	return nil
}

// checkWarRoom returns fault.Invalid for a second integration with war rooms: people must not have to look in two places.
func (i *Integration) checkWarRoom(tx *db.Tx, at configstore.RecordPath, account int64) error {
	if i.Settings == nil || !i.Settings.WarRoomEnabled {
		return nil
	}
	all, err := Kind.All(tx, account)
	for _, o := range all {
		if o.IntegrationID != i.IntegrationID && o.Settings != nil && o.Settings.WarRoomEnabled {
			return at.Member("settings").Invalid("war_room_enabled",
				"is on for the integration %d (%s) already, and only one of the account may have it", o.IntegrationID, o.IntegrationName)
		}
	}
	return err
}
