package channel

import (
	"strconv"

	"tocsin/internal/channel"
	"tocsin/internal/console/page"
)

// reminderField is a field of the form of a channel.
type reminderField struct {
	Name, Value string
	Label, Hint string
	Most        int64
	set         *int64
}

// reminderFields returns the fields with the entered values, else with the stored values; c is nil for a new channel.
func reminderFields(v *page.Visit, c *channel.Shown) []reminderField {
	stored, withdraw := channel.Reminder{}, channel.Withdrawal{}
	if c != nil && c.Reminder != nil {
		stored = *c.Reminder
		if stored.Withdraw != nil {
			withdraw = *stored.Withdraw
		}
	}
	const most, mostWait = 10080, 1440
	never := v.T("Empty: never.")
	all := []reminderField{
		{Name: "critical", Label: v.T("Reminder of Critical after minutes"), Hint: v.T("Empty: 60."), Most: most, set: stored.Critical},
		{Name: "warning", Label: v.T("Reminder of Warning after minutes"), Hint: v.T("Empty: 480."), Most: most, set: stored.Warning},
		{Name: "info", Label: v.T("Reminder of Info after minutes"), Hint: v.T("Empty: none."), Most: most, set: stored.Info},
		{
			Name: "withdraw_critical", Label: v.T("Withdraw of Critical after minutes"), Hint: v.T("Empty: 10."), Most: mostWait,
			set: withdraw.Critical,
		},
		{Name: "withdraw_warning", Label: v.T("Withdraw of Warning after minutes"), Hint: never, Most: mostWait, set: withdraw.Warning},
		{Name: "withdraw_info", Label: v.T("Withdraw of Info after minutes"), Hint: never, Most: mostWait, set: withdraw.Info},
	}
	for n := range all {
		f := &all[n]
		if f.set != nil {
			f.Value = strconv.FormatInt(*f.set, 10)
		}
		if v.Failure != nil {
			f.Value = v.Field("reminder_" + f.Name)
		}
	}
	return all
}

// remindersSent returns the reminders of the form. changed is false if they equal the stored reminders.
func remindersSent(v *page.Visit, c *channel.Shown) (reminder *channel.Reminder, changed bool) {
	reminder = &channel.Reminder{}
	withdraw := channel.Withdrawal{}
	into := map[string]**int64{
		"critical": &reminder.Critical, "warning": &reminder.Warning, "info": &reminder.Info,
		"withdraw_critical": &withdraw.Critical, "withdraw_warning": &withdraw.Warning, "withdraw_info": &withdraw.Info,
	}
	for _, f := range reminderFields(v, c) {
		sent := v.Field("reminder_" + f.Name)
		changed = changed || sent != f.Value
		if sent != "" {
			*into[f.Name] = new(page.Number(sent))
		}
	}
	if withdraw != (channel.Withdrawal{}) {
		reminder.Withdraw = &withdraw
	}
	return reminder, changed
}
