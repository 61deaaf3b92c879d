package channel

import (
	"slices"
	"strconv"

	"tocsin/internal/configstore"
	"tocsin/internal/sender"
)

// The bounds of an escalation rule that the checks of an account file share with the API.
const (
	maxLayers   = 20
	maxTargets  = 100 // persons, teams, schedules, addresses, each
	maxWebhooks = 20
	maxMembers  = 50 // of the settings of a webhook
	maxMethods  = 20 // of one severity
	maxWindows  = 100
	maxNamed    = 500      // persons, teams and schedules of all layers together: each is looked up when the rule is stored
	maxSettings = 64 << 10 // bytes of the settings of all webhooks together, names and values
)

// check rejects a rule that is beyond a bound or that can notify no one as it is written (docs/api.md, 10,
// "Escalation rules").
func (r *EscalateRule) check(at configstore.RecordPath) error {
	if err := configstore.FirstError(
		at.Object("template_id", r.TemplateID),
		between(at, "aggr_window", r.AggrWindow, 0, 3600),
		between(at, "priority", r.Priority, 0, 200),
		checkWindows(at, r.TimeFilters),
		checkFilters(at, r.Filters, false),
		between(at, "layers", int64(len(r.Layers)), 1, maxLayers),
		r.Repeat.check(at.Member("repeat")),
	); err != nil {
		return err
	}
	for i, l := range r.Layers {
		if err := l.check(at.Element("layers", i)); err != nil {
			return err
		}
	}
	return r.checkTotals(at)
}

// checkTotals holds what all layers have together against the bounds.
func (r *EscalateRule) checkTotals(at configstore.RecordPath) error {
	named, settings := 0, 0
	for _, l := range r.Layers {
		named += len(l.Target.PersonIDs) + len(l.Target.TeamIDs) + len(l.Target.ScheduleToRoleIDs)
		for _, w := range l.Target.Webhooks {
			for name, value := range w.Settings {
				settings += len(name) + len(value)
			}
		}
	}
	switch {
	case named > maxNamed:
		return at.Invalid("layers", "must name at most %d persons, teams and schedules together, got %d", maxNamed, named)
	case settings > maxSettings:
		return at.Invalid("layers", "must have at most %d bytes in the settings of all webhooks together, got %d", maxSettings, settings)
	}
	return nil
}

func (r *Repeat) check(at configstore.RecordPath) error {
	switch {
	case r == nil:
		return nil
	case (r.Times != nil) == value(r.UntilAcknowledged):
		return at.Invalid("", "must have either times or until_acknowledged")
	case r.Interval != nil && (*r.Interval < minRepeat || *r.Interval > maxRepeat):
		return at.Invalid("interval", "must be from %d to %d minutes, got %d", minRepeat, maxRepeat, *r.Interval)
	}
	return between(at, "times", value(r.Times), 0, 20)
}

func (l Layer) check(at configstore.RecordPath) error {
	if n := l.NotifyStep; n != nil && !(0.5 <= *n && *n <= 120) {
		return at.Invalid("notify_step", "must be from 0.5 to 120 minutes, got %v", *n)
	}
	if n := l.OnNobody; n != nil {
		at := at.Member("on_nobody")
		if err := at.OneOf("then", n.Then, Skip, Wait, Fallback); err != nil {
			return err
		}
		if (n.Then == Fallback) != (n.PersonID > 0) {
			return at.Invalid("person_id", "is for then fallback, which needs it, got %d with %s", n.PersonID, n.Then)
		}
	}
	return configstore.FirstError(
		between(at, "max_times", value(l.MaxTimes), 0, 6),
		between(at, "escalate_window", value(l.EscalateWindow), 0, 720),
		l.Target.check(at.Member("target")),
	)
}

func (t Target) check(at configstore.RecordPath) error {
	persons := t.persons()
	switch {
	case t.Empty():
		return at.Invalid("", "notifies no one: person_ids, team_ids, schedule_to_role_ids, emails or webhooks must name a recipient")
	case persons && t.By == nil && len(t.Webhooks) == 0:
		return at.Invalid("by", "is needed to notify persons, unless there are webhooks")
	case persons && t.By != nil && !t.By.any() && len(t.Webhooks) == 0:
		return at.Invalid("by", "names no method to notify persons: set follow_preference, critical, warning or info")
	}
	return configstore.FirstError(
		checkIDs(at, "person_ids", t.PersonIDs),
		checkIDs(at, "team_ids", t.TeamIDs),
		t.checkSchedules(at),
		t.checkEmails(at),
		t.By.check(at.Member("by")),
		t.checkWebhooks(at),
	)
}

// Empty reports whether the target names no recipient.
func (t Target) Empty() bool { return !t.persons() && len(t.Emails) == 0 && len(t.Webhooks) == 0 }

// persons reports whether the target names persons, teams or schedules: By has the methods for these.
func (t Target) persons() bool { return len(t.PersonIDs)+len(t.TeamIDs)+len(t.ScheduleToRoleIDs) > 0 }

// checkSchedules checks the schedules in the order of their ids, so that of several mistakes it always reports
// the same.
func (t Target) checkSchedules(at configstore.RecordPath) error {
	if err := atMost(at, "schedule_to_role_ids", len(t.ScheduleToRoleIDs), maxTargets); err != nil {
		return err
	}
	for _, schedule := range sortedKeys(t.ScheduleToRoleIDs) {
		if n, err := strconv.ParseInt(schedule, 10, 64); err != nil || n < 1 || strconv.FormatInt(n, 10) != schedule {
			return at.Invalid("schedule_to_role_ids", "must have ids of schedules as names, got %.40q", schedule)
		}
		if err := atMost(at.Member("schedule_to_role_ids"), schedule, len(t.ScheduleToRoleIDs[schedule]), maxTargets); err != nil {
			return err
		}
		for i, role := range t.ScheduleToRoleIDs[schedule] {
			if role < 0 {
				return at.Member("schedule_to_role_ids").Element(schedule, i).Invalid("", "must be at least 0, got %d", role)
			}
		}
	}
	return nil
}

func (t Target) checkEmails(at configstore.RecordPath) error {
	if err := atMost(at, "emails", len(t.Emails), maxTargets); err != nil {
		return err
	}
	for i, email := range t.Emails {
		at := at.Element("emails", i)
		if err := configstore.FirstError(at.Email("", email), at.Length("", email, 1, 255)); err != nil {
			return err
		}
	}
	return nil
}

func (t Target) checkWebhooks(at configstore.RecordPath) error {
	if err := atMost(at, "webhooks", len(t.Webhooks), maxWebhooks); err != nil {
		return err
	}
	for i, w := range t.Webhooks {
		at := at.Element("webhooks", i)
		if err := configstore.FirstError(at.Length("type", w.Type, 1, 64), atMost(at, "settings", len(w.Settings), maxMembers)); err != nil {
			return err
		}
	}
	return nil
}

func (b *By) check(at configstore.RecordPath) error {
	if b == nil {
		return nil
	}
	for _, list := range []struct {
		name    string
		methods []string
	}{{"critical", b.Critical}, {"warning", b.Warning}, {"info", b.Info}} {
		if err := atMost(at, list.name, len(list.methods), maxMethods); err != nil {
			return err
		}
		for i, method := range list.methods {
			if wrong := sender.CheckMethod(method); wrong != "" {
				return at.Element(list.name, i).Invalid("", "%s", wrong)
			}
		}
	}
	return nil
}

// Of returns the methods that the lists name for a severity; none if the person's preference is followed.
func (b *By) Of(severity string) []string {
	switch {
	case b == nil || value(b.FollowPreference):
		return nil
	case severity == "Critical":
		return b.Critical
	case severity == "Warning":
		return b.Warning
	}
	return b.Info
}

// any reports whether there is a method for incidents of any severity.
func (b *By) any() bool {
	return value(b.FollowPreference) || len(b.Critical)+len(b.Warning)+len(b.Info) > 0
}

// checkIDs rejects ids below 1; elsewhere 0 stands for no person. It is checked before the number of ids.
func checkIDs(at configstore.RecordPath, member string, ids []int64) error {
	if i := slices.IndexFunc(ids, func(id int64) bool { return id < 1 }); i >= 0 {
		return at.Element(member, i).AtLeast("", ids[i], 1)
	}
	return atMost(at, member, len(ids), maxTargets)
}

func atMost(at configstore.RecordPath, member string, n, most int) error {
	if n > most {
		return at.Invalid(member, "must have at most %d elements, got %d", most, n)
	}
	return nil
}

func between(at configstore.RecordPath, member string, n, least, most int64) error {
	if n < least || n > most {
		return at.Invalid(member, "must be from %d to %d, got %d", least, most, n)
	}
	return nil
}

// value returns an optional member; absent is zero.
func value[T any](member *T) (v T) {
	if member != nil {
		v = *member
	}
	return v
}
