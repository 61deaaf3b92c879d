package channel

import (
	"cmp"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/team"
)

type channelEditView struct {
	page.Titled
	ID                        int64
	Name, Description, Fields string
	TeamID, Window            int64
	Private, ByFields         bool
	Flapping                  flappingForm
	Teams                     []team.Team
	Reminders                 []reminderField
}

// editChannel shows the form of a channel: what was entered, else what is stored.
func editChannel(v *page.Visit) (page.View, error) {
	d := channelEditView{
		Titled: page.Titled(v.T("New channel")), Name: v.Query("name"), ByFields: true, Fields: "group_key", Flapping: usualFlapping,
	}
	d.Reminders = reminderFields(v, nil)
	if v.Request.PathValue("id") != "" {
		c, err := storedChannel(v)
		if err != nil {
			return nil, err
		}
		d.Reminders = reminderFields(v, &c)
		d.Titled = page.Titled(c.ChannelName)
		d.ID = c.ChannelID
		d.Name = c.ChannelName
		d.Description = c.Description
		d.TeamID = c.TeamID
		d.Private = c.IsPrivate
		d.ByFields, d.Fields = c.Group != nil && c.Group.Method == "p", ""
		if c.Group != nil {
			d.Fields, d.Window = page.FieldLines(c.Group.Equals), page.ValueOf(c.Group.TimeWindow)
		}
		d.Flapping = flappingOf(c)
	}
	if v.Failure != nil {
		d.Name = v.Field("name")
		d.Description = v.Field("description")
		d.Fields = v.Field("fields")
		d.TeamID = v.Number("team")
		d.Private = v.Field("private") != ""
		d.ByFields = v.Field("by_fields") != ""
		d.Window, d.Flapping = v.Number("window"), enteredFlapping(v, d.Flapping)
	}
	var err error
	d.Teams, err = v.AllTeams()
	return d, err
}

func saveChannel(v *page.Visit) (string, error) {
	name, team := v.Field("name"), v.Number("team")
	group := channel.Group{Method: "n"}
	if v.Field("by_fields") != "" {
		group = channel.Group{Method: "p", Equals: page.FieldLists(v.Field("fields")), TimeWindow: new(v.Number("window"))}
	}
	body := channel.Body{Description: new(v.Field("description")), IsPrivate: new(v.Field("private") != "")}
	if v.Request.PathValue("id") == "" {
		body.Group = &group
		if f := enteredFlapping(v, usualFlapping); f != usualFlapping {
			body.Flapping = f.settings()
		}
		if reminder, changed := remindersSent(v, nil); changed {
			body.Reminder = reminder
		}
		made, err := page.Call[channel.Created](v, "/channel/create", channel.CreateRequest{TeamID: team, ChannelName: name, Body: body})
		return "/channels/" + strconv.FormatInt(made.ChannelID, 10) + "/escalations/new", err // without a rule it notifies no one
	}
	c, err := storedChannel(v)
	if err != nil {
		return "", err
	}
	if changed := c.Group == nil || c.Group.Method != group.Method ||
		page.FieldLines(c.Group.Equals) != page.FieldLines(page.FieldLists(v.Field("fields"))) ||
		page.ValueOf(c.Group.TimeWindow) != v.Number("window"); changed {
		body.Group = &group
	}
	if f := enteredFlapping(v, flappingOf(c)); f != flappingOf(c) {
		body.Flapping = f.settings()
	}
	if reminder, changed := remindersSent(v, &c); changed {
		body.Reminder = reminder
	}
	request := channel.UpdateRequest{ChannelID: c.ChannelID, TeamID: &team, ChannelName: &name, Body: body}
	return channelPath(v), page.Do[api.Warnings](v, "/channel/update", request)
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

// usualFlapping holds for a channel without settings of its own.
var usualFlapping = flappingForm{MaxChanges: 4, InMins: 60, MuteMins: 15}

// flappingOf returns the settings that hold for a channel: absent members have the API's defaults.
func flappingOf(c channel.Shown) flappingForm {
	if c.Flapping == nil {
		return usualFlapping
	}
	return flappingForm{
		Off: page.ValueOf(c.Flapping.IsDisabled), MuteMins: page.ValueOf(c.Flapping.MuteMins),
		MaxChanges: cmp.Or(page.ValueOf(c.Flapping.MaxChanges), usualFlapping.MaxChanges),
		InMins:     cmp.Or(page.ValueOf(c.Flapping.InMins), usualFlapping.InMins),
	}
}

// enteredFlapping returns the entered settings; a number that was not entered keeps its value.
func enteredFlapping(v *page.Visit, before flappingForm) flappingForm {
	f := before
	f.Off = v.Field("flapping_off") != ""
	for name, into := range map[string]*int64{"max_changes": &f.MaxChanges, "in_mins": &f.InMins, "mute_mins": &f.MuteMins} {
		if v.Field(name) != "" {
			*into = v.Number(name)
		}
	}
	return f
}
