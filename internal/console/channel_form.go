package console

import (
	"cmp"
	"strconv"

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
		d.titled = titled(c.Name)
		d.ID = c.ID
		d.Name = c.Name
		d.Description = c.Description
		d.TeamID = c.TeamID
		d.Private = c.Private
		d.ByFields, d.Fields = c.Group != nil && c.Group.Method == "p", ""
		if c.Group != nil {
			d.Fields, d.Window = fieldLines(c.Group.Equals), c.Group.Window
		}
		d.Flapping = c.flapping()
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
	request := map[string]any{
		"channel_name": v.field("name"), "description": v.field("description"), "team_id": formNumber(v,
			"team"), "is_private": v.field("private") != "",
	}
	group := map[string]any{"method": "n"}
	if v.field("by_fields") != "" {
		group = map[string]any{"method": "p", "equals": fieldLists(v.field("fields")), "time_window": formNumber(v, "window")}
	}
	if v.r.PathValue("id") == "" {
		request["group"] = group
		if f := enteredFlapping(v, usualFlapping); f != usualFlapping {
			request["flapping"] = f
		}
		if reminder, changed := remindersSent(v, nil); changed {
			request["reminder"] = reminder
		}
		var made struct {
			ID int64 `json:"channel_id"`
		}
		err := v.call("/channel/create", request, &made)
		return "/channels/" + strconv.FormatInt(made.ID, 10), err
	}
	c, err := v.channel()
	if err != nil {
		return "", err
	}
	if changed := c.Group == nil || c.Group.Method != group["method"] ||
		fieldLines(c.Group.Equals) != fieldLines(fieldLists(v.field("fields"))) ||
		c.Group.Window != formNumber(v, "window"); changed {
		request["group"] = group
	}
	if f := enteredFlapping(v, c.flapping()); f != c.flapping() {
		request["flapping"] = f
	}
	if reminder, changed := remindersSent(v, &c); changed {
		request["reminder"] = reminder
	}
	request["channel_id"] = c.ID
	return v.channelPath(), v.call("/channel/update", request, nil)
}

// flappingForm holds the settings by which an alert of a channel changes too often.
type flappingForm struct {
	Off        bool  `json:"is_disabled"`
	MaxChanges int64 `json:"max_changes"`
	InMins     int64 `json:"in_mins"`
	MuteMins   int64 `json:"mute_mins"`
}

// usualFlapping holds for a channel without settings of its own.
var usualFlapping = flappingForm{MaxChanges: 4, InMins: 60, MuteMins: 15}

// flapping returns the settings that hold for the channel: absent members have the API's defaults.
func (c channelRow) flapping() flappingForm {
	if c.Flapping == nil {
		return usualFlapping
	}
	f := *c.Flapping
	f.MaxChanges, f.InMins = cmp.Or(f.MaxChanges, usualFlapping.MaxChanges), cmp.Or(f.InMins, usualFlapping.InMins)
	return f
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
