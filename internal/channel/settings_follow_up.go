package channel

import "tocsin/internal/configstore"

const (
	defaultReminder = 240 // minutes, of Critical
	minReminder     = 5
	maxReminder     = 10080
	defaultJoined   = 5
	maxJoined       = 1440
)

// ReminderInterval returns the seconds from one reminder of an open incident of a severity to the next; 0: there are none.
func (s Settings) ReminderInterval(severity string) int64 {
	r := s.Reminder
	if r == nil {
		r = &Reminder{}
	}
	switch severity {
	case "Critical":
		if r.Critical == nil {
			return defaultReminder * minute
		}
		return *r.Critical * minute
	case "Warning":
		return value(r.Warning) * minute
	}
	return value(r.Info) * minute
}

// JoinedSeconds returns in how many seconds alerts that join an acknowledged incident are one message.
func (s Settings) JoinedSeconds() int64 {
	if s.JoinedInterval == nil {
		return defaultJoined * minute
	}
	return *s.JoinedInterval * minute
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
	for _, one := range []struct {
		name    string
		minutes int64
	}{{"critical", value(s.Reminder.Critical)}, {"warning", value(s.Reminder.Warning)}, {"info", value(s.Reminder.Info)}} {
		if one.minutes != 0 && (one.minutes < minReminder || one.minutes > maxReminder) {
			return at.Invalid(one.name, "must be 0 or from %d to %d minutes, got %d", minReminder, maxReminder, one.minutes)
		}
	}
	return nil
}
