package integration

import (
	"fmt"
	"strconv"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sender"
	"tocsin/internal/sender/dingtalk"
	"tocsin/internal/sender/feishu"
	"tocsin/internal/sender/slack"
	"tocsin/internal/sender/wecom"
)

// Service returns the sender of an app whose secrets are in clear; nil for other integrations and for Microsoft Teams.
func (i *Integration) Service() sender.App {
	if i.Settings == nil {
		return nil
	}
	app := i.Settings.App
	switch i.IntegrationType {
	case SlackApp:
		return slack.App{Token: app["token"], Private: app["private"] == "true", BaseURL: app["base_url"]}
	case FeishuApp:
		return feishu.App{ID: app["app_id"], Secret: app["app_secret"], BaseURL: app["base_url"]}
	case DingTalkApp:
		return dingtalk.App{Key: app["app_key"], Secret: app["app_secret"], Owner: app["owner"], AgentID: app["agent_id"],
			BaseURL: app["base_url"]}
	case WeComApp:
		return wecom.App{CorpID: app["corp_id"], Secret: app["secret"], Owner: app["owner"], AgentID: app["agent_id"], BaseURL: app["base_url"]}
	}
	return nil
}

// Usable returns the app of a type through which persons are notified, with sealed secrets. why states why it cannot be
// used: it has another type, is disabled, or does not exist; empty: it can.
func Usable(tx *db.Tx, account int64, kind string, id int64) (i Integration, why string, err error) {
	i, found, err := Kind.Find(tx, account, strconv.FormatInt(id, 10))
	switch {
	case err != nil:
		return i, "", err
	case !found:
		return i, fmt.Sprintf("the integration %d does not exist", id), nil
	case i.IntegrationType != kind:
		return i, fmt.Sprintf("the integration %d (%s) is a %s, not a %s", id, i.IntegrationName, i.IntegrationType, kind), nil
	case kind == TeamsApp:
		return i, "Tocsin cannot send messages to persons in Microsoft Teams", nil
	case i.Status != "enabled":
		return i, fmt.Sprintf("the integration %d (%s) is disabled", id, i.IntegrationName), nil
	}
	return i, "", nil
}

// Only returns the one enabled app of a type that the account has. why states that it has none or several.
func Only(tx *db.Tx, account int64, kind string) (id int64, why string, err error) {
	all, err := Kind.All(tx, account)
	if err != nil {
		return 0, "", err
	}
	n := 0
	for _, i := range all {
		if i.IntegrationType == kind && i.Status == "enabled" {
			id, n = i.IntegrationID, n+1
		}
	}
	switch {
	case n == 0:
		return 0, "the account has no " + kind + " that is enabled", nil
	case n > 1:
		return 0, fmt.Sprintf("the account has %d apps of the type %s, and %s:ID must select one", n, kind, kind), nil
	}
	return id, "", nil
}

// Open returns the sender of the app that Usable finds, with its secrets in clear. It returns fault.Conflict with the
// reason when the app cannot be used.
func Open(tx *db.Tx, keyring *secret.Keyring, account int64, kind string, id int64) (sender.App, error) {
	i, why, err := Usable(tx, account, kind, id)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, fault.New(fault.Conflict, "%s", why)
	}
	if err := Kind.Open(keyring, account, &i); err != nil {
		return nil, err
	}
	return i.Service(), nil
}
