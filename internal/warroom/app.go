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

// app returns the integration that war rooms are opened with, and its sender.
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
	err = integration.Kind.Open(r.Keyring, c.Who.AccountID, &i)
	if err != nil {
		return i, nil, err
	}
	return i, i.Service(), nil
}

// currentApp returns the current state of the app that a war room was opened with. why states why it cannot be used;
// empty: it can.
func (r *Service) currentApp(c *api.Call, w *Record) (s sender.App, why string, err error) {
	s, err = integration.Open(c.Tx, r.Keyring, w.AccountID, w.PluginType+"_app", w.IntegrationID)
	if fault.KindOf(err) == fault.Conflict {
		return nil, err.Error(), nil
	}
	return s, "", err
}

// plugin returns the name of the service, such as slack.
func plugin(i *integration.Integration) string { return strings.TrimSuffix(i.IntegrationType, "_app") }

// failed returns the error for a call that the service rejected, with the persons that it does not know.
func failed(plugin string, err error, missing []string) error {
	kind := fault.BadRequest
	if sender.Retry(err) {
		kind = fault.Unavailable
	}
	message := publicMessage(err)
	if len(missing) > 0 {
		message += "; " + missingText(missing)
	}
	return &fault.Error{Kind: kind, Message: plugin + ": " + message, Cause: err}
}

// publicMessage returns the part of a service's error that a caller may see.
func publicMessage(err error) string {
	if e := (*sender.Error)(nil); errors.As(err, &e) {
		return e.Error()
	}
	return "it did not answer as it should"
}

// missingText returns the text about persons that the service could not add.
func missingText(missing []string) string {
	return "it does not know or could not add: " + strings.Join(missing, ", ")
}
