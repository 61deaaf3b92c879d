package channel

import (
	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
)

// Defaults and bounds, all in minutes.
const (
	criticalReminder   = 60  // default for an acknowledged Critical incident
	warningReminder    = 480 // default for an acknowledged Warning
	unansweredReminder = 240 // default for a Critical incident that no person has acknowledged
	minReminder        = 5
	maxReminder        = 10080
	criticalWithdrawal = 10
	questionWait       = 10 // for an answer whose absence does not withdraw the acknowledgement
	minWithdrawal      = 5
	maxWithdrawal      = 1440
	defaultJoined      = 5
	maxJoined          = 1440
)

// ReminderInterval returns the seconds between reminders of an open incident; 0: no reminders. The interval depends on the
// severity, and on whether the incident is acknowledged.
func (s Settings) ReminderInterval(severity string, acknowledged bool) int64 {
	set := Reminder{}
	if s.Reminder != nil {
		set = *s.Reminder
	}
	minutes, absent := set.Info, int64(0)
	switch {
	case severity == event.Critical && acknowledged:
		minutes, absent = set.Critical, criticalReminder
	case severity == event.Critical:
		minutes, absent = set.Critical, unansweredReminder
	case severity == event.Warning && acknowledged:
		minutes, absent = set.Warning, warningReminder
	case severity == event.Warning:
		minutes = set.Warning
	}
	return orElse(minutes, absent) * minute
}

// Withdrawal returns for how many seconds a reminder of an acknowledged incident awaits its answer. withdraws reports
// whether a missing answer withdraws the acknowledgement.
func (s Settings) Withdrawal(severity string) (wait int64, withdraws bool) {
	set := Withdrawal{}
	if s.Reminder != nil && s.Reminder.Withdraw != nil {
		set = *s.Reminder.Withdraw
	}
	minutes := value(set.Info)
	switch severity {
	case event.Critical:
		minutes = orElse(set.Critical, criticalWithdrawal)
	case event.Warning:
		minutes = value(set.Warning)
	}
	if minutes == 0 {
		return questionWait * minute, false
	}
	return minutes * minute, true
}

// JoinedSeconds returns in how many seconds alerts that join an acknowledged incident are one message.
func (s Settings) JoinedSeconds() int64 { return orElse(s.JoinedInterval, defaultJoined) * minute }

// orElse returns a setting, or absent when the setting is nil.
func orElse(set *int64, absent int64) int64 {
	if set == nil {
		return absent
	}
	return *set
}

// checkFollowUp holds reminders and the interval of joined alerts against their bounds.
func (s Settings) checkFollowUp(at configstore.RecordPath) error {
	if s.JoinedInterval != nil {
		if err := between(at, "joined_interval", *s.JoinedInterval, 1, maxJoined); err != nil {
			return err
		}
	}
	if s.Reminder == nil {
		return nil
	}
	at = at.Member("reminder")
	if err := checkMinutes(at, minReminder, maxReminder, s.Reminder.Critical, s.Reminder.Warning, s.Reminder.Info); err != nil {
		return err
	}
	w := s.Reminder.Withdraw
	if w == nil {
		return nil
	}
	return checkMinutes(at.Member("withdraw"), minWithdrawal, maxWithdrawal, w.Critical, w.Warning, w.Info)
}

// checkMinutes checks the minutes of each severity against their bounds; 0 and absent minutes are valid.
func checkMinutes(at configstore.RecordPath, least, most int64, critical, warning, info *int64) error {
	for _, one := range []struct {
		name    string
		minutes int64
	}{{"critical", value(critical)}, {"warning", value(warning)}, {"info", value(info)}} {
		if one.minutes != 0 && (one.minutes < least || one.minutes > most) {
			return at.Invalid(one.name, "must be 0 or from %d to %d minutes, got %d", least, most, one.minutes)
		}
	}
	return nil
}
