package console

import (
	"cmp"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/team"
)

type channelEditView struct {
	titled
	ID                        int64
	Name, Description, Fields string
	TeamID, Window            int64
	Private, ByFields         bool
	Flapping                  flappingForm
	Teams                     []team.Team
	Reminders                 []reminderField
}

// editChannel shows the form of a channel: what was entered, else what is stored.
func editChannel(v *visit) (view, error) {
	d := channelEditView{titled: titled(v.T("New channel")), ByFields: true, Fields: "group_key", Flapping: usualFlapping}
	d.Reminders = reminderFields(v, nil)
	if v.r.PathValue("id") != "" {
		c, err := v.channel()
		if err != nil {
			return nil, err
		}
		d.Reminders = reminderFields(v, &c)
		d.titled = titled(c.ChannelName)
		d.ID = c.ChannelID
		d.Name = c.ChannelName
		d.Description = c.Description
		d.TeamID = c.TeamID
		d.Private = c.IsPrivate
		d.ByFields, d.Fields = c.Group != nil && c.Group.Method == "p", ""
		if c.Group != nil {
			d.Fields, d.Window = fieldLines(c.Group.Equals), valueOf(c.Group.TimeWindow)
		}
		d.Flapping = flappingOf(c)
	}
	if v.Failure != nil {
		d.Name = v.field("name")
		d.Description = v.field("description")
		d.Fields = v.field("fields")
		d.TeamID = formNumber(v, "team")
		d.Private = v.field("private") != ""
		d.ByFields = v.field("by_fields") != ""
		d.Window, d.Flapping = formNumber(v, "window"), enteredFlapping(v, d.Flapping)
	}
	var err error
	d.Teams, err = v.allTeams()
	return d, err
}

func saveChannel(v *visit) (string, error) {
	name, team := v.field("name"), formNumber(v, "team")
	group := channel.Group{Method: "n"}
	if v.field("by_fields") != "" {
		group = channel.Group{Method: "p", Equals: fieldLists(v.field("fields")), TimeWindow: new(formNumber(v, "window"))}
	}
	body := channel.Body{Description: new(v.field("description")), IsPrivate: new(v.field("private") != "")}
	if v.r.PathValue("id") == "" {
		body.Group = &group
		if f := enteredFlapping(v, usualFlapping); f != usualFlapping {
			body.Flapping = f.settings()
		}
		if reminder, changed := remindersSent(v, nil); changed {
			body.Reminder = reminder
		}
		made, err := call[channel.Created](v, "/channel/create", channel.CreateRequest{TeamID: team, ChannelName: name, Body: body})
		return "/channels/" + strconv.FormatInt(made.ChannelID, 10), err
	}
	c, err := v.channel()
	if err != nil {
		return "", err
	}
	if changed := c.Group == nil || c.Group.Method != group.Method ||
		fieldLines(c.Group.Equals) != fieldLines(fieldLists(v.field("fields"))) ||
		valueOf(c.Group.TimeWindow) != formNumber(v, "window"); changed {
		body.Group = &group
	}
	if f := enteredFlapping(v, flappingOf(c)); f != flappingOf(c) {
		body.Flapping = f.settings()
	}
	if reminder, changed := remindersSent(v, &c); changed {
		body.Reminder = reminder
	}
	request := channel.UpdateRequest{ChannelID: c.ChannelID, TeamID: &team, ChannelName: &name, Body: body}
	return v.channelPath(), do[api.Warnings](v, "/channel/update", request)
}

// flappingForm holds the settings by which an alert of a channel changes too often.
type flappingForm struct {
	Off                          bool
	MaxChanges, InMins, MuteMins int64
}

// settings returns the settings as the API takes them.
func (f flappingForm) settings() *channel.Flapping {
	return &channel.Flapping{IsDisabled: &f.Off, MaxChanges: &f.MaxChanges, InMins: &f.InMins, MuteMins: &f.MuteMins}
}

// valueOf returns what a member of a reply holds; zero: it is absent.
func valueOf[T any](member *T) (value T) {
	if member != nil {
		value = *member
	}
	return value
}

// usualFlapping holds for a channel without settings of its own.
var usualFlapping = flappingForm{MaxChanges: 4, InMins: 60, MuteMins: 15}

// flappingOf returns the settings that hold for a channel: absent members have the API's defaults.
func flappingOf(c channel.Shown) flappingForm {
	if c.Flapping == nil {
		return usualFlapping
	}
	return flappingForm{
		Off: valueOf(c.Flapping.IsDisabled), MuteMins: valueOf(c.Flapping.MuteMins),
		MaxChanges: cmp.Or(valueOf(c.Flapping.MaxChanges), usualFlapping.MaxChanges),
		InMins:     cmp.Or(valueOf(c.Flapping.InMins), usualFlapping.InMins),
	}
}

// enteredFlapping returns the entered settings; a number that was not entered keeps its value.
func enteredFlapping(v *visit, before flappingForm) flappingForm {
	f := before
	f.Off = v.field("flapping_off") != ""
	for name, into := range map[string]*int64{"max_changes": &f.MaxChanges, "in_mins": &f.InMins, "mute_mins": &f.MuteMins} {
		if v.field(name) != "" {
			*into = formNumber(v, name)
		}
	}
	return f
}
