package lint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

// channel returns a channel with its enabled rules.
func (r *reader) channel(ch channel.Channel) (c lint.Channel, err error) {
	c = lint.Channel{ID: ch.ChannelID, Name: ch.ChannelName, Disabled: ch.Status != "enabled"}
	if c.Disabled {
		return c, nil
	}
	parent := strconv.FormatInt(ch.ChannelID, 10)
	rules, err := channel.Escalates.Of(r.tx, r.account, parent)
	if err != nil {
		return c, err
	}
	for _, rule := range rules {
		if rule.Status != "enabled" {
			continue
		}
		read, err := r.rule(rule)
		if err != nil {
			return c, err
		}
		c.Rules = append(c.Rules, read)
	}
	drops, err := channel.Drops.Of(r.tx, r.account, parent)
	if err != nil {
		return c, err
	}
	for _, d := range drops {
		if d.Status == "enabled" {
			c.Drops = append(c.Drops, lint.Filtered{ID: d.RuleID, Name: d.RuleName, Filter: d.Filters})
		}
	}
	inhibits, err := channel.Inhibits.Of(r.tx, r.account, parent)
	if err != nil {
		return c, err
	}
	for _, i := range inhibits {
		if i.Status == "enabled" {
			c.Inhibits = append(c.Inhibits, lint.Inhibit{
				ID: i.RuleID, Name: i.RuleName, Source: i.SourceFilters.Value, Target: i.TargetFilters.Value,
			})
		}
	}
	c.Silences, err = r.silences(parent)
	return c, err
}

// silences returns the enabled silence rules of a channel that are not over.
func (r *reader) silences(parent string) (list []lint.Silence, err error) {
	rules, err := channel.Silences.Of(r.tx, r.account, parent)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		s := lint.Silence{Filtered: lint.Filtered{ID: rule.RuleID, Name: rule.RuleName, Filter: rule.Filters}}
		once := rule.TimeFilter
		if rule.Status != "enabled" || once != nil && once.EndTime <= r.now.Unix() {
			continue
		}
		if once != nil {
			s.Start, s.End = once.StartTime, once.EndTime
		} else {
			s.Active, err = r.active(rule.TimeFilters)
			if err != nil {
				return nil, err
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// active returns when windows are open until the horizon.
func (r *reader) active(windows []channel.TimeFilter) ([]lint.Span, error) {
	var ids []string
	for _, w := range windows {
		if w.CalID != nil {
			ids = append(ids, *w.CalID)
		}
	}
	days, err := calendar.Load(r.tx, r.account, ids)
	return channel.Active(windows, r.now, r.now.Add(lint.Horizon*time.Second), r.zone, days), err
}

// rule returns an escalation rule with whom its steps reach.
func (r *reader) rule(rule channel.EscalateRule) (read lint.Rule, err error) {
	read.Filtered = lint.Filtered{ID: rule.RuleID, Name: rule.RuleName, Filter: rule.Filters}
	read.Windowed = len(rule.TimeFilters) > 0
	if read.Windowed {
		read.Active, err = r.active(rule.TimeFilters)
		if err != nil {
			return read, err
		}
	}
	var named []string
	closed := channel.Escalates.Open(r.Keyring, r.account, &rule)
	for _, l := range rule.Layers {
		step, err := r.step(l)
		if err != nil {
			return read, err
		}
		step.Chats, err = r.chats(l.Target.Webhooks, closed)
		if err != nil {
			return read, err
		}
		read.Steps = append(read.Steps, step)
		for _, severity := range lint.Severities {
			named = append(named, l.Target.By.Of(severity)...)
		}
		if len(l.Target.Emails) > 0 {
			named = append(named, "email")
		}
	}
	read.CannotSend = r.cannotSend(named)
	return read, nil
}

// step resolves the target of a layer.
func (r *reader) step(l channel.Layer) (step lint.Step, err error) {
	t := l.Target
	step = lint.Step{Pages: t.By != nil, Emails: len(t.Emails)}
	for _, id := range t.PersonIDs {
		step.Parts = append(step.Parts, r.named(id))
	}
	if n := l.OnNobody; n != nil && n.PersonID != 0 {
		step.Parts = append(step.Parts, r.named(n.PersonID))
	}
	for _, id := range t.TeamIDs {
		part, err := r.team(id)
		if err != nil {
			return step, err
		}
		step.Parts = append(step.Parts, part)
	}
	for _, key := range slices.Sorted(maps.Keys(t.ScheduleToRoleIDs)) {
		part, err := r.schedule(key, t.ScheduleToRoleIDs[key])
		if err != nil {
			return step, err
		}
		step.Parts = append(step.Parts, part)
	}
	if t.By == nil {
		return step, nil
	}
	for _, part := range step.Parts {
		for _, id := range part.Persons {
			for _, severity := range lint.Severities {
				u, err := r.reach(r.persons[id], t.By, severity)
				if err != nil {
					return step, err
				}
				if u.Why != "" {
					step.Unreached = append(step.Unreached, u)
				}
			}
		}
	}
	return step, nil
}

// named returns a person as a part of a step.
func (r *reader) named(id int64) lint.Part {
	p, found := r.persons[id]
	if !found {
		return lint.Part{Ref: fault.Ref{Kind: "person", ID: fmt.Sprint(id), Name: fmt.Sprint(id)}, Lacks: sentence.New("l_part_left")}
	}
	return lint.Part{Ref: fault.Ref{Kind: "person", ID: fmt.Sprint(id), Name: p.Name}, Persons: []int64{id}}
}

// present returns the ids of persons who have not left.
func (r *reader) present(ids []int64) (list []int64) {
	for _, id := range ids {
		if _, found := r.persons[id]; found {
			list = append(list, id)
		}
	}
	return list
}

func (r *reader) team(id int64) (lint.Part, error) {
	record, found, err := team.Find(r.tx, r.account, id)
	part := lint.Part{Ref: fault.Ref{Kind: "team", ID: fmt.Sprint(id), Name: record.TeamName}, Persons: r.present(record.PersonIDs)}
	switch {
	case !found:
		part.Lacks = sentence.New("l_part_gone")
	case len(part.Persons) == 0:
		part.Lacks = sentence.New("l_part_empty")
	}
	return part, err
}

// schedule returns a schedule, named by its id as text, as a part of a step.
func (r *reader) schedule(key string, roles []int64) (lint.Part, error) {
	id, _ := strconv.ParseInt(key, 10, 64)
	cover, found, err := schedule.Cover(r.tx, r.account, id, roles, r.now.Unix(), r.zone)
	part := lint.Part{Ref: fault.Ref{Kind: "schedule", ID: key, Name: cover.Name}, Persons: r.present(cover.Persons),
		Gaps: cover.Gaps, Timeline: cover.Timeline, Roles: roles}
	switch {
	case !found:
		part.Lacks = sentence.New("l_part_gone")
	case cover.Disabled:
		part.Lacks = sentence.New("l_part_disabled")
		part.Persons = nil
		part.Gaps = nil
	case len(cover.Persons) > 0 && len(part.Persons) < len(cover.Persons):
		part.Lacks = sentence.New("l_part_persons")
	}
	return part, err
}

// chats returns the chats of a step with why one cannot be used. closed is why the rule's secrets cannot be opened.
func (r *reader) chats(hooks []channel.Webhook, closed error) (list []lint.Chat, err error) {
	for _, hook := range hooks {
		for _, chat := range notify.Chats(r.account, hook.Type, hook.Settings) {
			lacks := chat.Lacks
			to := chat.Address
			switch {
			case closed != nil:
				lacks = sentence.New("l_settings_closed")
			case lacks != "":
			case to.Direct != nil:
				_, why, err := integration.Usable(r.tx, r.account, to.Direct.Kind, to.Direct.Integration)
				if err != nil {
					return nil, err
				}
				lacks = sentence.Raw(why)
			case !r.Notify.Can(hook.Type):
				lacks = sentence.New("not_sendable", hook.Type)
			case to.Chat.Token == "" && to.Chat.URL == "":
				lacks = sentence.New("l_settings_empty")
			}
			list = append(list, lint.Chat{Kind: hook.Type, Lacks: lacks})
		}
	}
	return list, nil
}
