package channel

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/team"
)

// Body is what a caller may send of a channel. An update leaves the members that are absent as they are.
type Body struct {
	ManagingTeamIDs         []int64   `json:"managing_team_ids,omitzero" maxItems:"3" doc:"Further teams that read and change it, at most 3."`
	Description             *string   `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	Group                   *Group    `json:"group,omitzero" doc:"Which alerts become one incident."`
	Flapping                *Flapping `json:"flapping,omitzero" doc:"When an alert changes too often to notify about."`
	AutoResolveTimeout      *int64    `json:"auto_resolve_timeout,omitzero" minimum:"0" maximum:"2592000" doc:"Seconds after which an incident is resolved by itself; 0: never."`
	AutoResolveMode         *string   `json:"auto_resolve_mode,omitzero" enum:"trigger,update" doc:"What the time is counted from."`
	PluginIDs               []int64   `json:"plugin_ids,omitzero" maxItems:"100" doc:"Stored as sent."`
	IsPrivate               *bool     `json:"is_private,omitzero" doc:"Only its teams, its creator and the account's owner may read it."`
	DisableOutlierDetection *bool     `json:"disable_outlier_detection,omitzero" doc:"Stored as sent; there is no outlier detection."`
	DisableAutoClose        *bool     `json:"disable_auto_close,omitzero" doc:"An incident stays open when all of its alerts are over."`
	IsExternalReportEnabled *bool     `json:"is_external_report_enabled,omitzero" doc:"Stored as sent; incidents are reported through the API."`
	Reminder                *Reminder `json:"reminder,omitzero" doc:"When people are reminded of an incident that stays open."`
	JoinedInterval          *int64    `json:"joined_interval,omitzero" minimum:"1" maximum:"1440" doc:"Minutes in which alerts that join an acknowledged incident are one message."`
}

// CreateRequest describes a new channel.
type CreateRequest struct {
	TeamID      int64  `json:"team_id" minimum:"0" doc:"Owning team; 0: none."`
	ChannelName string `json:"channel_name" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	Body
}

// Created is the channel that was created.
type Created struct {
	ChannelID   int64  `json:"channel_id" doc:"The new channel."`
	ChannelName string `json:"channel_name" doc:"Its name, as it was sent."`
	api.Warnings
}

// UpdateRequest changes members of a channel; an absent member stays.
type UpdateRequest struct {
	ChannelID   int64   `json:"channel_id" minimum:"1" doc:"The channel to change."`
	TeamID      *int64  `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	ChannelName *string `json:"channel_name,omitzero" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	Body
}

// noRule is the warning of a channel whose incidents notify no one.
const noRule = "the channel has no enabled escalation rule, so its incidents reach only the account's fallback"

// noGroups is the warning of a channel that is created without grouping.
const noGroups = "group.method: n opens an incident for every alert, and people are notified of each; p groups alerts"

func create(c *api.Call, in CreateRequest) (Created, error) {
	unused, err := id.Unused(func(n int64) (bool, error) { return Table.Known(c.Tx, c.Who.AccountID, n) })
	if err != nil {
		return Created{}, err
	}
	ch := Channel{
		AccountID:   c.Who.AccountID,
		ChannelID:   unused,
		ChannelName: in.ChannelName,
		TeamID:      in.TeamID,
		CreatorID:   c.Who.PersonID,
		Status:      "enabled",
		CreatedAt:   c.Unix(),
	}
	if in.Group == nil {
		ch.Group = sourceGroups()
	}
	warnings, err := in.storeIn(c, &ch)
	if ch.Group.Method == "n" {
		warnings = append(warnings, noGroups)
	}
	warnings = append(warnings, noRule)
	return Created{ch.ChannelID, ch.ChannelName, api.Warn(warnings)}, err
}

func update(c *api.Call, in UpdateRequest) (api.Warnings, error) {
	ch, err := find(c.Tx, c.Who, in.ChannelID)
	if err != nil {
		return api.Warnings{}, err
	}
	configstore.SetIfSent(&ch.TeamID, in.TeamID)
	configstore.SetIfSent(&ch.ChannelName, in.ChannelName)
	warnings, err := in.storeIn(c, &ch)
	return api.Warn(warnings), err
}

// storeIn changes the members of the channel that were sent, checks them and stores the channel. The warnings
// name what is probably not meant.
func (b Body) storeIn(c *api.Call, ch *Channel) (warnings []string, err error) {
	setList(&ch.ManagingTeamIDs, b.ManagingTeamIDs)
	configstore.SetIfSent(&ch.Description, b.Description)
	configstore.SetIfSent(&ch.IsPrivate, b.IsPrivate)
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
	ch.Reminder = cmp.Or(b.Reminder, ch.Reminder)
	ch.JoinedInterval = cmp.Or(b.JoinedInterval, ch.JoinedInterval)
	if err := configstore.FirstError(
		ch.Settings.check(""),
		team.Table.Need(c.Tx, c.Who.AccountID, "team_id", ch.TeamID),
	); err != nil {
		return nil, err
	}
	for i, id := range b.ManagingTeamIDs {
		at := fmt.Sprintf("managing_team_ids[%d]", i)
		if err := team.Table.Need(c.Tx, c.Who.AccountID, at, id); err != nil {
			return nil, err
		}
	}
	warnings = ch.Settings.warnings()
	if ch.IsPrivate && ch.TeamID == 0 && len(ch.ManagingTeamIDs) == 0 {
		warnings = append(warnings, "is_private: the channel has no team, only its creator and the account's owner may read it")
	}
	return warnings, ch.touch(c)
}

// touch stores a channel with the time of the change.
func (ch *Channel) touch(c *api.Call) error {
	ch.UpdatedAt = c.Unix()
	c.Touched(configstore.Channel, ch.ChannelID, ch.ChannelName)
	return ch.put(c.Tx, c.Who.AccountID)
}

// OneRequest names a channel.
type OneRequest struct {
	ChannelID int64 `json:"channel_id" minimum:"1" doc:"The channel."`
}

// Shown is a channel as a caller sees it.
type Shown struct {
	Channel
	IsStarred bool `json:"is_starred" doc:"The caller has marked it."`
}

func info(c *api.Call, in OneRequest) (Shown, error) {
	ch, err := find(c.Tx, c.Who, in.ChannelID)
	if err != nil {
		return Shown{}, err
	}
	stars, err := starred(c)
	return view(c, ch, stars), err
}

// view returns a channel as the caller sees it; stars are those of starred.
func view(c *api.Call, ch Channel, stars map[int64]bool) Shown {
	ch.AccountID = c.Who.AccountID
	return Shown{ch, stars[ch.ChannelID]}
}

// starred returns the channels that the caller has marked.
func starred(c *api.Call) (map[int64]bool, error) {
	ids, err := db.All(c.Tx, db.Column[int64],
		`SELECT channel_id FROM channel_star WHERE account_id = $1 AND person_id = $2`, c.Who.AccountID, c.Who.PersonID)
	stars := make(map[int64]bool, len(ids))
	for _, id := range ids {
		stars[id] = true
	}
	return stars, err
}

type infosRequest struct {
	ChannelIDs []int64 `json:"channel_ids" maxItems:"1000" doc:"The channels, at most 1000."`
}

// Brief is a channel in the reply of /channel/infos: its id, name and status.
type Brief struct {
	ChannelID   int64  `json:"channel_id" doc:"The channel."`
	ChannelName string `json:"channel_name" doc:"What people call it."`
	Status      string `json:"status" enum:"enabled,disabled" doc:"Whether it takes alerts."`
}

// infos returns the channels in the order of the request, each once. Unknown channels, and private ones that
// the caller may not read, are left out.
func infos(c *api.Call, in infosRequest) (api.Items[Brief], error) {
	items, seen := []Brief{}, map[int64]bool{}
	for _, id := range in.ChannelIDs {
		if seen[id] {
			continue
		}
		seen[id] = true
		ch, err := find(c.Tx, c.Who, id)
		if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.AccessDenied {
			continue
		}
		if err != nil {
			return api.Items[Brief]{}, err
		}
		items = append(items, Brief{ch.ChannelID, ch.ChannelName, ch.Status})
	}
	return api.Items[Brief]{Items: items}, nil
}

// Switched is called in the transaction that enables or disables a channel; nil: nothing depends on it.
type Switched func(tx *db.Tx, account int64, ch *Channel, person int64, now time.Time) error

// to returns the operation that sets the status of a channel.
func (switched Switched) to(status string) func(*api.Call, OneRequest) (api.Empty, error) {
	return func(c *api.Call, in OneRequest) (api.Empty, error) {
		ch, err := find(c.Tx, c.Who, in.ChannelID)
		if err != nil {
			return api.Empty{}, err
		}
		before := ch.Status
		ch.Status = status
		if err := ch.touch(c); err != nil || switched == nil || before == status {
			return api.Empty{}, err
		}
		return api.Empty{}, switched(c.Tx, c.Who.AccountID, &ch, c.Who.PersonID, c.Now)
	}
}

func star(c *api.Call, in OneRequest) (api.Empty, error) {
	return setStar(c, in,
		`INSERT INTO channel_star (account_id, person_id, channel_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`)
}

func unstar(c *api.Call, in OneRequest) (api.Empty, error) {
	return setStar(c, in, `DELETE FROM channel_star WHERE account_id = $1 AND person_id = $2 AND channel_id = $3`)
}

// setStar runs a query on the caller's mark of a channel.
func setStar(c *api.Call, in OneRequest, query string) (api.Empty, error) {
	ch, err := find(c.Tx, c.Who, in.ChannelID)
	if err != nil {
		return api.Empty{}, err
	}
	c.Touched("channel", ch.ChannelID, ch.ChannelName)
	err = c.Tx.Do(query, c.Who.AccountID, c.Who.PersonID, in.ChannelID)
	return api.Empty{}, err
}

// DeleteRequest names a channel to delete.
type DeleteRequest struct {
	OneRequest
	api.DryRun
}

// ruleKinds delete the rules of a channel, kind by kind.
var ruleKinds = []func(*db.Tx, int64, string) ([]fault.Ref, error){
	Silences.DeleteOf,
	Drops.DeleteOf,
	Inhibits.DeleteOf,
	Escalates.DeleteOf,
}

// Detach removes a channel that is being deleted from the objects of a package that name it, and returns what that
// changes as warnings.
type Detach func(c *api.Call, channel int64) (warnings []string, err error)

// remover is the operation that deletes channels, with what it removes them from.
type remover []Detach

// remove deletes a channel with its rules. The channel must be disabled first, so that people who still
// expect alerts from it notice before it is deleted.
func (detach remover) remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
	ch, err := find(c.Tx, c.Who, in.ChannelID)
	if err != nil {
		return api.Removal{}, err
	}
	account, key := c.Who.AccountID, strconv.FormatInt(ch.ChannelID, 10)
	if ch.Status != "disabled" {
		return api.Removal{}, fault.New(fault.Conflict, "channel %d is enabled: disable it before it is deleted", ch.ChannelID)
	}
	warnings, err := detach.from(c, ch.ChannelID)
	if err != nil {
		return api.Removal{}, err
	}
	if err := configstore.FirstError(
		configstore.RefuseReferenced(c.Tx, account, configstore.Channel, ch.ChannelID),
		rulesUnreferenced(c.Tx, account, key),
	); err != nil {
		return api.Removal{}, err
	}
	c.Warn(warnings...) // after what may refuse: a dry run that refuses changes nothing
	c.Removed(configstore.Channel, ch.ChannelID, ch.ChannelName)
	for _, kind := range ruleKinds {
		deleted, err := kind(c.Tx, account, key)
		if err != nil {
			return api.Removal{}, err
		}
		for _, r := range deleted {
			c.Removed(r.Kind, r.ID, r.Name)
		}
	}
	if err := c.Tx.Do(`DELETE FROM channel_star WHERE account_id = $1 AND channel_id = $2`, account, ch.ChannelID); err != nil {
		return api.Removal{}, err
	}
	return api.Removal{}, Erase(c.Tx, account, ch.ChannelID)
}

// from removes a channel from the objects of all packages.
func (detach remover) from(c *api.Call, channel int64) (warnings []string, err error) {
	for _, one := range detach {
		more, err := one(c, channel)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
	}
	return warnings, nil
}

// rulesUnreferenced returns ReferenceExist when something refers to an escalation rule of a channel.
func rulesUnreferenced(tx *db.Tx, account int64, channel string) error {
	rules, err := Escalates.Of(tx, account, channel)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		if err := configstore.RefuseReferenced(tx, account, configstore.Escalate, rule.RuleID); err != nil {
			return err
		}
	}
	return nil
}
