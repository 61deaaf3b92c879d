package warroom

import (
	"errors"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// app reads the integration that war rooms are opened with.
func (r *Service) app(c *api.Call, id int64) (i integration.Integration, s sender.App, err error) {
	i, err = integration.Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(id, 10))
	switch {
	case err != nil:
		return i, nil, err
	case i.IntegrationType == integration.TeamsApp:
		return i, nil, fault.Invalid("integration_id",
			"names a teams_app: Tocsin cannot open groups in Microsoft Teams; those of Slack, Feishu, DingTalk and WeCom can")
	case !i.OpensGroups():
		return i, nil, fault.Invalid("integration_id",
			"names a %s, which opens no groups; a slack_app, feishu_app, dingtalk_app or wecom_app does", i.IntegrationType)
	case i.Status != "enabled":
		return i, nil, fault.New(fault.Conflict, "the integration %d (%s) is disabled", id, i.IntegrationName)
	}
	if err = integration.Kind.Open(r.Keyring, c.Who.AccountID, &i); err != nil {
		return i, nil, err
	}
	return i, i.Service(), nil
}

// reach is the app that a war room was opened with, as it is now. why says in words why it cannot be asked any
// more; empty: it can.
func (r *Service) reach(c *api.Call, w *Record) (s sender.App, why string, err error) {
	s, err = integration.Open(c.Tx, r.Keyring, w.AccountID, w.PluginType+"_app", w.IntegrationID)
	if fault.KindOf(err) == fault.Conflict {
		return nil, err.Error(), nil
	}
	return s, "", err
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
