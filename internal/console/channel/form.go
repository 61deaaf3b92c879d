package channel

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
)

// formPart is a part of the form of a channel.
type formPart struct {
	Title, Hint string
	Form        page.Form
}

// channelParts are the inputs of the form of a channel.
var channelParts = []formPart{
	{Form: page.Form{Operations: []string{"/channel/create", "/channel/update"}, Members: []page.Member{
		{Path: "channel_name", Label: "Name"},
		{Path: "description", Label: "Description", Kind: page.Long},
		{Path: "team_id", Label: "Team", Kind: page.Teams},
		{Path: "managing_team_ids", Label: "Further teams that read and change it", Kind: page.Teams},
		{Path: "is_private", Label: "Private: only its teams, its creator and the owner may read it."},
	}}},
	{Title: "Grouping", Form: page.Form{Operations: []string{"/channel/create", "/channel/update"}, Members: []page.Member{
		{Path: "group.method", Label: "Alerts that become one incident", Options: []page.Option{
			{Value: "p", Text: "Those that agree in some fields"}, {Value: "n", Text: "None: every alert is an incident of its own"},
		}},
		{Path: "group.equals", Label: "Fields",
			Hint: "One list on each line, its fields joined by commas, such as labels.service, labels.cluster. group_key is the source's group."},
		{Path: "group.time_window", Label: "Minutes in which alerts join an incident", Hint: "0: as long as it is open."},
		{Path: "group.window_type", Label: "These minutes are counted from", Options: []page.Option{
			{Value: "tumbling", Text: "The first alert of the incident"}, {Value: "sliding", Text: "The latest alert of the incident"},
		}},
		{Path: "group.all_equals_required", Label: "Only alerts that have all fields of a list are grouped by it"},
		{Path: "group.storm_threshold", Label: "Alerts of one incident that are a storm",
			Hint: "Its responders get a message when it has so many. Empty or 0: none."},
		{Path: "group.storm_thresholds", Label: "Further messages at so many alerts", Hint: "A number on each line, at most 5."},
	}}},
	{Title: "Alerts that change too often",
		Hint: "Their incident stays open and notifies once, until it has been quiet or gets worse.",
		Form: page.Form{Operations: []string{"/channel/create", "/channel/update"}, Members: []page.Member{
			{Path: "flapping.is_disabled", Label: "Off: every end is an end, and every beginning notifies."},
			{Path: "flapping.max_changes", Label: "So many changes between firing and over are too many"},
			{Path: "flapping.in_mins", Label: "Within so many minutes"},
			{Path: "flapping.mute_mins", Label: "Minutes without a change until it is over", Hint: "0: it is only marked."},
		}}},
	{Title: "The end of incidents", Form: page.Form{Operations: []string{"/channel/create", "/channel/update"}, Members: []page.Member{
		{Path: "disable_auto_close", Label: "An incident stays open when all of its alerts are over"},
		{Path: "auto_resolve_timeout", Label: "Seconds until an incident is resolved by itself", Hint: "0: never. An hour has 3600."},
		{Path: "auto_resolve_mode", Label: "These seconds are counted from", Options: []page.Option{
			{Value: "trigger", Text: "The first alert of the incident"}, {Value: "update", Text: "The latest alert of the incident"},
		}},
	}}},
	{Title: "Reminders",
		Hint: "Persons who acknowledged an incident are asked whether they still work on it. Without an answer it escalates again.",
		Form: page.Form{Operations: []string{"/channel/create", "/channel/update"}, Members: []page.Member{
			{Path: "reminder.critical", Label: "Reminder of Critical after minutes", Hint: "Empty: 60."},
			{Path: "reminder.warning", Label: "Reminder of Warning after minutes", Hint: "Empty: 480."},
			{Path: "reminder.info", Label: "Reminder of Info after minutes", Hint: "Empty: none."},
			{Path: "reminder.withdraw.critical", Label: "Withdraw of Critical after minutes", Hint: "Empty: 10."},
			{Path: "reminder.withdraw.warning", Label: "Withdraw of Warning after minutes", Hint: "Empty: never."},
			{Path: "reminder.withdraw.info", Label: "Withdraw of Info after minutes", Hint: "Empty: never."},
			{Path: "joined_interval", Label: "Minutes in which alerts that join an acknowledged incident are one message"},
		}}},
}

type channelEditView struct {
	page.Titled
	ID     int64
	Parts  []drawnPart
	Cases  []groupCase
	Offers []page.Offer
	Seen   string
}

// drawnPart is a part of the form with its inputs.
type drawnPart struct {
	formPart
	Fields []page.FormField
}

// groupCase groups the alerts that a filter matches by other fields.
type groupCase struct {
	Index  int
	If     filterForm
	Fields string
	Stored string // the number of the stored case; empty: it is new
}

// Number returns the number of the case, from 1.
func (c groupCase) Number() int { return c.Index + 1 }

// Path returns the address of the form.
func (d channelEditView) Path() string {
	return d.Back() + map[bool]string{true: "/new", false: "/edit"}[d.ID == 0]
}

// Back returns the address that the form leads back to.
func (d channelEditView) Back() string {
	if d.ID == 0 {
		return "/channels"
	}
	return "/channels/" + strconv.FormatInt(d.ID, 10)
}

// usualFlapping holds for a channel without settings of its own.
func usualFlapping() channel.Flapping {
	return channel.Flapping{IsDisabled: new(false), MaxChanges: new(int64(4)), InMins: new(int64(60)), MuteMins: new(int64(15))}
}

// editedChannel returns the channel of the address, or a new one.
func editedChannel(v *page.Visit) (c channel.Shown, err error) {
	if v.Request.PathValue("id") != "" {
		return storedChannel(v)
	}
	c.ChannelName = v.Query("name")
	c.Group = &channel.Group{Method: "p", Equals: [][]string{{"group_key"}}}
	return c, nil
}

// withUsual returns a channel with the values that hold for what it has not set.
func withUsual(c channel.Shown) channel.Shown {
	group, flapping := channel.Group{Method: "n"}, usualFlapping()
	if c.Group != nil {
		group = *c.Group
	}
	if group.Method == "i" {
		group.Method = "n" // it is treated so
	}
	group.TimeWindow = cmp.Or(group.TimeWindow, new(int64(0)))
	if c.Flapping != nil {
		flapping = *c.Flapping
		flapping.MaxChanges = cmp.Or(flapping.MaxChanges, usualFlapping().MaxChanges)
		flapping.InMins = cmp.Or(flapping.InMins, usualFlapping().InMins)
		flapping.MuteMins = cmp.Or(flapping.MuteMins, new(int64(0)))
	}
	c.Group, c.Flapping = &group, &flapping
	c.AutoResolveTimeout = cmp.Or(c.AutoResolveTimeout, new(int64(0)))
	c.JoinedInterval = cmp.Or(c.JoinedInterval, new(int64(5)))
	return c
}

// editChannel shows the form of a channel: what was entered, else what is stored.
func editChannel(v *page.Visit) (page.View, error) {
	c, err := editedChannel(v)
	if err != nil {
		return nil, err
	}
	d := channelEditView{Titled: page.Titled(c.ChannelName), ID: c.ChannelID, Seen: channelSeen(c)}
	if c.ChannelID == 0 {
		d.Titled = page.Titled(v.T("New channel"))
	}
	drawn := withUsual(c)
	for _, p := range channelParts {
		var inputs page.RecordForm
		if err := p.Form.Draw(v, &inputs, drawn); err != nil {
			return nil, err
		}
		d.Parts = append(d.Parts, drawnPart{p, inputs.Fields})
		d.Offers = append(d.Offers, inputs.Offers...)
	}
	d.Cases = storedCases(drawn.Group.Cases)
	if v.Request.Method == http.MethodPost {
		d.Cases, d.Seen = readCases(v), v.FormSeen(d.Seen)
	}
	for n := range d.Cases {
		d.Cases[n].Index, d.Cases[n].If.Name = n, fmt.Sprintf("case.%d", n)
	}
	return d, nil
}

// channelSeen identifies what the form of a channel changes.
func channelSeen(c channel.Shown) string {
	if c.ChannelID == 0 {
		return ""
	}
	return page.Identity(struct {
		Name, About string
		Team        int64
		channel.Settings
		Teams []int64
	}{c.ChannelName, c.Description, c.TeamID, c.Settings, c.ManagingTeamIDs})
}

func storedCases(stored []channel.Case) (all []groupCase) {
	for n, c := range stored {
		var lists [][]string
		for _, fields := range c.Equals.Value {
			lists = append(lists, fields)
		}
		all = append(all, groupCase{If: formOf("", c.If.Value), Fields: page.FieldLines(lists), Stored: strconv.Itoa(n)})
	}
	return all
}

// readCases returns the cases that were entered, with what a button adds or removes.
func readCases(v *page.Visit) (all []groupCase) {
	for n := range maxCases {
		name := fmt.Sprintf("case.%d", n)
		if !v.Request.PostForm.Has(name + ".fields") {
			break
		}
		if v.Field("do") != fmt.Sprintf("remove-case:%d", n) {
			all = append(all, groupCase{If: readFilter(v, name), Fields: v.Field(name + ".fields"), Stored: v.Field(name + ".stored")})
		}
	}
	if v.Field("do") == "add-case" {
		all = append(all, groupCase{If: filterForm{}.atLeastOne()})
	}
	return all
}

// groupCases returns the entered cases as requests have them. A case keeps those of its members that have no input.
func groupCases(v *page.Visit, stored []channel.Case) []channel.Case {
	all := []channel.Case{}
	for _, entered := range readCases(v) {
		var conditions filter.Written
		if f := entered.If.filter(); len(f) > 0 {
			conditions.Value = f
		}
		var lists channel.FieldLists
		for _, fields := range page.FieldLists(entered.Fields) {
			lists.Value = append(lists.Value, fields)
		}
		one := channel.Case{If: conditions, Equals: lists}
		if n, err := strconv.Atoi(entered.Stored); err == nil && n >= 0 && n < len(stored) {
			one.Others = stored[n].Others
		}
		all = append(all, one)
	}
	return all
}

// saveChannel stores a channel, unless a button asked for another row.
func saveChannel(v *page.Visit) (string, error) {
	if v.Field("do") != "save" {
		return "", nil
	}
	c, err := editedChannel(v)
	if err != nil {
		return "", err
	}
	if err := v.Unchanged(channelSeen(c), 0); err != nil {
		return "", err
	}
	if c.ChannelID != 0 {
		request := channel.UpdateRequest{ChannelID: c.ChannelID}
		if err := readChannel(v, &request, &request.Body, c); err != nil {
			return "", err
		}
		return channelPath(v), page.Do[api.Warnings](v, "/channel/update", request)
	}
	var request channel.CreateRequest
	if err := readChannel(v, &request, &request.Body, c); err != nil {
		return "", err
	}
	made, err := page.Call[channel.Created](v, "/channel/create", request)
	return "/channels/" + strconv.FormatInt(made.ChannelID, 10) + "/escalations/new", err // without a rule it notifies no one
}

// readChannel reads a request, of which body is a part. Settings that hold without being set stay so, and what has no input stays.
func readChannel(v *page.Visit, request any, body *channel.Body, stored channel.Shown) error {
	for _, p := range channelParts {
		if err := p.Form.Read(v, request); err != nil {
			return err
		}
	}
	var before channel.Group
	if stored.Group != nil {
		before = *stored.Group
	}
	if body.Group != nil {
		body.Group.Cases = groupCases(v, before.Cases)
		body.Group.IKeys, body.Group.IScoreThreshold = before.IKeys, before.IScoreThreshold
	}
	if stored.Flapping == nil && page.Identity(body.Flapping) == page.Identity(new(usualFlapping())) {
		body.Flapping = nil
	}
	return nil
}
