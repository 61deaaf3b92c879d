package integration

import (
	"net/url"
	"slices"
	"strconv"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Types of apps of chat services, which open groups and tell persons there (docs/senders.md).
const (
	SlackApp    = "slack_app"
	FeishuApp   = "feishu_app"
	DingTalkApp = "dingtalk_app"
	WeComApp    = "wecom_app"
	TeamsApp    = "teams_app" // can be kept, but opens no group and tells nobody
)

// credential is a member of settings.app.
type credential struct {
	name     string
	secret   bool
	required bool
}

// apps says what each type of app is entered with.
var apps = map[string][]credential{
	SlackApp:  {{"token", true, true}, {"private", false, false}, {"base_url", false, false}},
	FeishuApp: {{"app_id", false, true}, {"app_secret", true, true}, {"base_url", false, false}},
	DingTalkApp: {{"app_key", true, true}, {"app_secret", true, true}, {"owner", false, false}, {"agent_id", false, false},
		{"base_url", false, false}},
	WeComApp: {{"corp_id", false, true}, {"secret", true, true}, {"owner", false, false}, {"agent_id", false, false},
		{"base_url", false, false}},
	TeamsApp: {{"tenant_id", false, false}, {"app_id", false, false}, {"app_secret", true, false}},
}

// open are the members of settings.app that are no secret in any type. What is not known is treated as one.
var open = []string{"private", "base_url", "app_id", "corp_id", "tenant_id", "owner", "agent_id"}

// IsApp tells apps of chat services from sources and webhooks.
func (i *Integration) IsApp() bool { return apps[i.IntegrationType] != nil }

// IsSource tells what sends us something, and needs a key for it, from webhooks and apps.
func (i *Integration) IsSource() bool { return !i.IsWebhook() && !i.IsApp() }

// OpensGroups tells whether war rooms can be opened with the app.
func (i *Integration) OpensGroups() bool { return i.IsApp() && i.IntegrationType != TeamsApp }

// checkApp holds the settings of an app against what its type is entered with. A secret may be empty, as it is
// in an account file without secrets.
func (s *Settings) checkApp(at configstore.RecordPath, kind string) error {
	known := apps[kind]
	app := at.Member("app")
	for name, value := range s.App {
		if !slices.ContainsFunc(known, func(c credential) bool { return c.name == name }) {
			return app.Invalid(name, "is not known of a %s", kind)
		}
		if err := app.Length(name, value, 0, 2048); err != nil {
			return err
		}
	}
	for _, c := range known {
		if value, there := s.App[c.name]; c.required && (!there || value == "" && !c.secret) {
			return app.Invalid(c.name, "is required for a %s", kind)
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

// complete refuses an app without one of its secrets.
func (i *Integration) complete() error {
	for _, c := range apps[i.IntegrationType] {
		if c.required && i.Settings.App[c.name] == "" {
			return configstore.RecordPath("settings.app").Invalid(c.name, "is required for a %s", i.IntegrationType)
		}
	}
	return nil
}

// alone refuses a second integration with war rooms: where to meet must not be a question.
func (i *Integration) alone(tx *db.Tx, at configstore.RecordPath, account int64) error {
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
