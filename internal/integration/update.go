package integration

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/team"
)

// UpdateRequest asks for a change of an integration.
type UpdateRequest struct {
	IntegrationID   int64   `json:"integration_id" minimum:"1" doc:"The integration to change."`
	IntegrationName *string `json:"integration_name,omitzero" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	Body
}

func (r *Service) update(c *api.Call, in UpdateRequest) (api.Warnings, error) {
	i, err := r.readInClear(c, in.IntegrationID)
	if err != nil {
		return api.Warnings{}, err
	}
	if in.IntegrationName != nil {
		i.IntegrationName = *in.IntegrationName
	}
	warnings, err := r.store(c, &i, in.Body, i.Settings)
	return api.Warn(warnings), err
}

// readInClear reads an integration that the caller may change, with its secrets in clear.
func (r *Service) readInClear(c *api.Call, integration int64) (Integration, error) {
	i, err := Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(integration, 10))
	if err == nil {
		err = i.permit(c)
	}
	if err == nil {
		err = Kind.Show(r.Keyring, c.Who.AccountID, &i, c.Report)
	}
	return i, err
}

// store applies what was sent to an integration whose secrets are in clear. It checks, seals and stores the integration.
func (r *Service) store(c *api.Call, i *Integration, b Body, old *Settings) (warnings []string, err error) {
	if b.ChannelID != nil && *b.ChannelID != i.ChannelID {
		if err := permitRouted(c, i.IntegrationID); err != nil {
			return nil, err
		}
	}
	b.applyTo(i, old)
	if err := configstore.FirstError(i.check(""), i.checkWarRoom(c.Tx, "", c.Who.AccountID)); err != nil {
		return nil, err
	}
	if b.Settings != nil {
		if err := i.requireSecrets(); err != nil {
			return nil, err
		}
	}
	if i.Settings != nil {
		warnings = i.Settings.warnings()
	}
	if err := i.needReferences(c); err != nil {
		return nil, err
	}
	if err := i.permit(c); err != nil {
		return nil, err
	}
	i.UpdatedAt = c.Unix()
	i.UpdatedBy = c.Who.PersonID
	i.PushURL = ""
	c.Touched(Kind.Name, i.IntegrationID, i.IntegrationName)
	if err := registerKey(c.Tx, c.Who.AccountID, i, 0); err != nil {
		return nil, err
	}
	if err := Kind.Seal(r.Keyring, c.Who.AccountID, i); err != nil {
		return nil, err
	}
	return warnings, Kind.Put(c.Tx, c.Who.AccountID, i)
}

// applyTo copies the members that were sent. Secrets that are sent empty keep the values of old.
func (b Body) applyTo(i *Integration, old *Settings) {
	configstore.SetIfSent(&i.Description, b.Description)
	configstore.SetIfSent(&i.RefID, b.RefID)
	configstore.SetIfSent(&i.TeamID, b.TeamID)
	configstore.SetIfSent(&i.ChannelID, b.ChannelID)
	if b.Settings != nil {
		i.Settings = b.Settings.keepSecrets(old)
	}
}

// needReferences returns fault.Invalid unless the team and the channels that an integration names exist.
func (i *Integration) needReferences(c *api.Call) error {
	if err := team.Table.Need(c.Tx, c.Who.AccountID, "team_id", i.TeamID); err != nil {
		return err
	}
	if err := channel.Table.Need(c.Tx, c.Who.AccountID, "channel_id", i.ChannelID); err != nil {
		return err
	}
	if i.Settings == nil {
		return nil
	}
	for n, ch := range i.Settings.ChannelIDs {
		if err := channel.Table.Need(c.Tx, c.Who.AccountID, fmt.Sprintf("settings.channel_ids[%d]", n), ch); err != nil {
			return err
		}
	}
	return nil
}

// keepSecrets returns the settings with secrets that were sent empty replaced by the stored ones.
func (s *Settings) keepSecrets(old *Settings) *Settings {
	if old == nil {
		return s
	}
	k := *s
	if k.SignSecret == "" {
		k.SignSecret = old.SignSecret
	}
	k.keepRotation(old)
	k.Headers = maps.Clone(k.Headers)
	for name, value := range k.Headers {
		if value == "" {
			k.Headers[name] = old.Headers[name]
		}
	}
	k.App = maps.Clone(k.App)
	for name, value := range k.App {
		if value == "" && !slices.Contains(open, name) {
			k.App[name] = old.App[name]
		}
	}
	return &k
}

// warnings reports an address that the server may not be allowed to call.
func (s *Settings) warnings() []string {
	field := "settings.endpoint"
	what := "webhooks go"
	address := s.Endpoint
	if s.App != nil {
		field = "settings.app.base_url"
		what = "calls go"
		address = s.App["base_url"]
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" ||
		ip != nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()) {
		return []string{field + ": is an address of this network; " + what + " there only where the server allows it"}
	}
	return nil
}
