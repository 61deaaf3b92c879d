package channel

import (
	"cmp"
	"fmt"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Body is what a caller may say of a channel. What is left out of an update stays as it is.
type Body struct {
	ManagingTeamIDs         []int64   `json:"managing_team_ids,omitzero" maxItems:"3" doc:"Further teams that read and change it, at most 3."`
	Description             *string   `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	Group                   *Group    `json:"group,omitzero" doc:"Which alerts become one incident."`
	Flapping                *Flapping `json:"flapping,omitzero" doc:"When an alert changes too often to be told about."`
	AutoResolveTimeout      *int64    `json:"auto_resolve_timeout,omitzero" minimum:"0" maximum:"2592000" doc:"Seconds after which an incident is resolved by itself; 0: never."`
	AutoResolveMode         *string   `json:"auto_resolve_mode,omitzero" enum:"trigger,update" doc:"What the time is counted from."`
	PluginIDs               []int64   `json:"plugin_ids,omitzero" maxItems:"100" doc:"Kept as sent."`
	IsPrivate               *bool     `json:"is_private,omitzero" doc:"Only its teams, its creator and the account's owner may read it."`
	DisableOutlierDetection *bool     `json:"disable_outlier_detection,omitzero" doc:"Kept as sent; there is no outlier detection."`
	DisableAutoClose        *bool     `json:"disable_auto_close,omitzero" doc:"An incident stays open when all of its alerts are over."`
	IsExternalReportEnabled *bool     `json:"is_external_report_enabled,omitzero" doc:"Kept as sent; incidents are reported through the API."`
}

type createRequest struct {
	TeamID      int64  `json:"team_id" minimum:"0" doc:"Owning team; 0: none."`
	ChannelName string `json:"channel_name" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	Body
}

type created struct {
	ChannelID   int64  `json:"channel_id" doc:"The new channel."`
	ChannelName string `json:"channel_name" doc:"Its name, as it was sent."`
	api.Warnings
}

type updateRequest struct {
	ChannelID   int64   `json:"channel_id" minimum:"1" doc:"The channel to change."`
	TeamID      *int64  `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	ChannelName *string `json:"channel_name,omitzero" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	Body
}

func create(c *api.Call, in createRequest) (created, error) {
	ch := Channel{AccountID: c.Who.AccountID, ChannelID: id.Number(), ChannelName: in.ChannelName, TeamID: in.TeamID, CreatorID: c.Who.PersonID, Status: "enabled", CreatedAt: c.Unix()}
	warnings, err := in.onto(c, &ch)
	return created{ch.ChannelID, ch.ChannelName, api.Warn(warnings)}, err
}

func update(c *api.Call, in updateRequest) (api.Warnings, error) {
	ch, err := find(c.Tx, c.Who, in.ChannelID)
	if err != nil {
		return api.Warnings{}, err
	}
	set(&ch.TeamID, in.TeamID)
	set(&ch.ChannelName, in.ChannelName)
	warnings, err := in.onto(c, &ch)
	return api.Warn(warnings), err
}

// onto puts what was sent into the channel and stores it.
func (b Body) onto(c *api.Call, ch *Channel) (warnings []string, err error) {
	setList(&ch.ManagingTeamIDs, b.ManagingTeamIDs)
	set(&ch.Description, b.Description)
	set(&ch.IsPrivate, b.IsPrivate)
	if b.Group != nil {
		ch.Group = b.Group
	}
	if b.Flapping != nil {
		ch.Flapping = b.Flapping
	}
	ch.AutoResolveTimeout = cmp.Or(b.AutoResolveTimeout, ch.AutoResolveTimeout)
	ch.AutoResolveMode = cmp.Or(b.AutoResolveMode, ch.AutoResolveMode)
	setList(&ch.PluginIDs, b.PluginIDs)
	ch.DisableOutlierDetection = cmp.Or(b.DisableOutlierDetection, ch.DisableOutlierDetection)
	ch.DisableAutoClose = cmp.Or(b.DisableAutoClose, ch.DisableAutoClose)
	ch.IsExternalReportEnabled = cmp.Or(b.IsExternalReportEnabled, ch.IsExternalReportEnabled)
	if err := configstore.FirstError(ch.Settings.check(""), configstore.Need(c.Tx, c.Who.AccountID, "team_id", configstore.RefTo(configstore.Team, ch.TeamID))); err != nil {
		return nil, err
	}
	for i, team := range b.ManagingTeamIDs {
		if err := configstore.Need(c.Tx, c.Who.AccountID, fmt.Sprintf("managing_team_ids[%d]", i), configstore.RefTo(configstore.Team, team)); err != nil {
			return nil, err
		}
	}
	warnings = ch.Settings.warnings()
	if ch.IsPrivate && ch.TeamID == 0 && len(ch.ManagingTeamIDs) == 0 {
		warnings = append(warnings, "is_private: the channel has no team, only its creator and the account's owner may read it")
	}
	return warnings, ch.touch(c)
}

// touch stamps and stores a channel.
func (ch *Channel) touch(c *api.Call) error {
	ch.UpdatedAt = c.Unix()
	c.Touched(configstore.Channel, ch.ChannelID, ch.ChannelName)
	return ch.put(c.Tx, c.Who.AccountID)
}

type OneRequest struct {
	ChannelID int64 `json:"channel_id" minimum:"1" doc:"The channel."`
}

// switched is the function of /channel/enable and /channel/disable.
func switched(status string) func(*api.Call, OneRequest) (api.Empty, error) {
	return func(c *api.Call, in OneRequest) (api.Empty, error) {
		ch, err := find(c.Tx, c.Who, in.ChannelID)
		if err != nil {
			return api.Empty{}, err
		}
		ch.Status = status
		return api.Empty{}, ch.touch(c)
	}
}

type deleteRequest struct {
	OneRequest
	api.DryRun
}

// remove deletes a channel with its rules. It must be disabled first, so that one who still expects alerts
// from it notices before it is gone.
func remove(c *api.Call, in deleteRequest) (api.Removal, error) {
	ch, err := find(c.Tx, c.Who, in.ChannelID)
	if err != nil {
		return api.Removal{}, err
	}
	account, key := c.Who.AccountID, strconv.FormatInt(ch.ChannelID, 10)
	if ch.Status != "disabled" {
		return api.Removal{}, fault.New(fault.Conflict, "channel %d is enabled: disable it before it is deleted", ch.ChannelID)
	}
	if err := configstore.RefuseReferenced(c.Tx, account, configstore.Channel, ch.ChannelID); err != nil {
		return api.Removal{}, err
	}
	c.Removed(configstore.Channel, ch.ChannelID, ch.ChannelName)
	for _, kind := range ruleKinds {
		gone, err := kind(c.Tx, account, key)
		if err != nil {
			return api.Removal{}, err
		}
		for _, r := range gone {
			c.Removed(r.Kind, r.ID, r.Name)
		}
	}
	if _, err := c.Tx.Exec(`DELETE FROM channel_star WHERE account_id = $1 AND channel_id = $2`, account, ch.ChannelID); err != nil {
		return api.Removal{}, err
	}
	return api.Removal{}, Erase(c.Tx, account, ch.ChannelID)
}
