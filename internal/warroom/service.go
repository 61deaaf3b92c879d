package warroom

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/fault"
	"tocsin/internal/integration"
	"tocsin/internal/outbound"
	"tocsin/internal/sender"
	"tocsin/internal/sender/dingtalk"
	"tocsin/internal/sender/feishu"
	"tocsin/internal/sender/slack"
	"tocsin/internal/sender/wecom"
)

// service is an app that opens groups (docs/senders.md, "Apps that open groups").
type service interface {
	OpenGroup(ctx context.Context, out *outbound.Client, name string, people []sender.Contact) (sender.Group, error)
	AddMembers(ctx context.Context, out *outbound.Client, groupID string, people []sender.Contact) (missing []string, err error)
	Post(ctx context.Context, out *outbound.Client, groupID string, m sender.Message) (sender.Receipt, error)
}

// serviceOf makes the app of an integration whose secrets are in clear; nil: it is none that opens groups.
func serviceOf(i *integration.Integration) service {
	app := i.Settings.App
	switch i.IntegrationType {
	case integration.SlackApp:
		return slack.App{Token: app["token"], Private: app["private"] == "true", BaseURL: app["base_url"]}
	case integration.FeishuApp:
		return feishu.App{ID: app["app_id"], Secret: app["app_secret"], BaseURL: app["base_url"]}
	case integration.DingTalkApp:
		return dingtalk.App{Key: app["app_key"], Secret: app["app_secret"], Owner: app["owner"], BaseURL: app["base_url"]}
	case integration.WeComApp:
		return wecom.App{CorpID: app["corp_id"], Secret: app["secret"], Owner: app["owner"], BaseURL: app["base_url"]}
	}
	return nil
}

// app reads the integration that war rooms are opened with.
func (r *Room) app(c *api.Call, id int64) (i integration.Integration, s service, err error) {
	i, err = integration.Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(id, 10))
	switch {
	case err != nil:
		return i, nil, err
	case i.IntegrationType == integration.TeamsApp:
		return i, nil, fault.Invalid("integration_id", "names a teams_app: Tocsin cannot open groups in Microsoft Teams; those of Slack, Feishu, DingTalk and WeCom can")
	case !i.OpensGroups():
		return i, nil, fault.Invalid("integration_id", "names a %s, which opens no groups; a slack_app, feishu_app, dingtalk_app or wecom_app does", i.IntegrationType)
	case i.Status != "enabled":
		return i, nil, fault.New(fault.Conflict, "the integration %d (%s) is disabled", id, i.IntegrationName)
	}
	if err = integration.Kind.Open(r.Box, c.Who.AccountID, &i); err != nil {
		return i, nil, err
	}
	return i, serviceOf(&i), nil
}

// plugin is the name of the service, such as slack.
func plugin(i *integration.Integration) string { return strings.TrimSuffix(i.IntegrationType, "_app") }

// failed is what a caller is told of a service that did not do it, and whom it does not know.
func failed(plugin string, err error, missing []string) error {
	kind := fault.BadRequest
	if sender.Retry(err) {
		kind = fault.Unavailable
	}
	message := said(err)
	if len(missing) > 0 {
		message += "; " + unknown(missing)
	}
	return &fault.Error{Kind: kind, Message: plugin + ": " + message, Cause: err}
}

// said is what of a service's failure may be told.
func said(err error) string {
	if e := (*sender.Error)(nil); errors.As(err, &e) {
		return e.Message
	}
	return "it did not answer as it should"
}

func unknown(missing []string) string {
	return "it does not know or could not add: " + strings.Join(missing, ", ")
}
