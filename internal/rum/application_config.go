package rum

import (
	"fmt"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/team"
)

// AlertingInput is Alerting as callers send it; absent members keep their values.
type AlertingInput struct {
	Enabled       *bool   `json:"enabled,omitzero" doc:"Issues become alerts."`
	ChannelIDs    []int64 `json:"channel_ids,omitzero" maxItems:"100" doc:"The channels that receive them, at most 100; an empty list: none."`
	IntegrationID int64   `json:"integration_id,omitzero" doc:"Not used: the integration is the system's own."`
}

// TracingInput is Tracing as callers send it; absent members keep their values.
type TracingInput struct {
	Enabled  *bool   `json:"enabled,omitzero" doc:"Traces are linked."`
	OpenType *string `json:"open_type,omitzero" enum:"popup,tab," doc:"How a link opens: popup, tab, or empty for unset."`
	Endpoint *string `json:"endpoint,omitzero" maxLength:"2048" doc:"http or https URL in which ${trace_id} stands for the trace; empty: none."`
}

// configure sets the members that were sent. Tracing may be sent under either of its names, or under both if they
// are equal.
func (a *Application) configure(alerting *AlertingInput, tracing, alias *TracingInput) error {
	if alerting != nil {
		configstore.SetIfSent(&a.Alerting.Enabled, alerting.Enabled)
		if alerting.ChannelIDs != nil {
			a.Alerting.ChannelIDs = alerting.ChannelIDs
		}
	}
	under := func(in *TracingInput) Tracing {
		t := a.Tracing
		if in != nil {
			configstore.SetIfSent(&t.Enabled, in.Enabled)
			configstore.SetIfSent(&t.OpenType, in.OpenType)
			configstore.SetIfSent(&t.Endpoint, in.Endpoint)
		}
		return t
	}
	switch {
	case tracing != nil && alias != nil && under(tracing) != under(alias):
		return fault.Invalid("the service", "must be the same as tracing when both are given")
	case tracing != nil:
		a.Tracing = under(tracing)
	default:
		a.Tracing = under(alias)
	}
	a.TracingAlias = a.Tracing
	return nil
}

// checkTeam returns a fault if the account does not have the team.
func (a *Application) checkTeam(tx *db.Tx) error {
	if a.TeamID == 0 {
		return nil
	}
	found, err := team.Table.Known(tx, a.AccountID, a.TeamID)
	if err == nil && !found {
		err = fault.Invalid("team_id", "names team %d, which does not exist", a.TeamID)
	}
	return err
}

// checkChannels returns a fault for the first channel that the account does not have.
func (a *Application) checkChannels(tx *db.Tx) error {
	for i, ch := range a.Alerting.ChannelIDs {
		_, found, err := channel.Find(tx, a.AccountID, ch)
		if err == nil && !found {
			err = fault.Invalid(fmt.Sprintf("alerting.channel_ids[%d]", i), "names channel %d, which does not exist", ch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// permitChannels refuses to add or remove a private channel that the caller may not read. before are the channels that
// the application alerts now.
func (a *Application) permitChannels(c *api.Call, before []int64) error {
	for _, lists := range [][2][]int64{{a.Alerting.ChannelIDs, before}, {before, a.Alerting.ChannelIDs}} {
		for _, id := range lists[0] {
			if slices.Contains(lists[1], id) {
				continue
			}
			if err := channel.PermitAll(c.Tx, c.Who, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// warnings returns the settings that are enabled without effect.
func (a *Application) warnings() (w api.Warnings) {
	if a.Alerting.Enabled && len(a.Alerting.ChannelIDs) == 0 {
		w.Warnings = append(w.Warnings, sentence.Words(sentence.New("w_alerting_nowhere")))
	}
	if a.Tracing.Enabled && a.Tracing.Endpoint == "" {
		w.Warnings = append(w.Warnings, sentence.Words(sentence.New("w_tracing_nowhere")))
	}
	return w
}

// refer stores the references of the application; a deleted application has none.
func (a *Application) refer(tx *db.Tx) error {
	if a.Status == "deleted" {
		return configstore.ClearReferences(tx, a.AccountID, configstore.Application, a.ApplicationID)
	}
	targets := []configstore.Target{configstore.RefTo(configstore.Team, a.TeamID)}
	for _, ch := range a.Alerting.ChannelIDs {
		targets = append(targets, configstore.RefTo(configstore.Channel, ch))
	}
	from := configstore.RefFrom(configstore.Application, a.ApplicationID, a.ApplicationName)
	return configstore.SetReferences(tx, a.AccountID, from, targets...)
}
