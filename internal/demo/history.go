package demo

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	pages "tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/schedule"
)

// relive stores what an account file lacks: the feeds of the troubles' incidents and alerts, their notifications, and the
// objects that putNamed stores.
func relive(tx *db.Tx, keyring *secret.Keyring, m moments) error {
	feeds := &activity.Bus{} // without subscribers: nothing follows from the past
	if err := feeds.Publish(tx, alertFeeds(m)...); err != nil {
		return err
	}
	service := &pages.Service{Config: pages.Config{Keyring: keyring}}
	rules := configured(m).EscalateRules
	for n, i := range incidents(m) {
		paged := pagesOf(m, troubles()[n], i, rules)
		for _, p := range paged {
			if err := service.PutSent(tx, p); err != nil {
				return err
			}
		}
		if err := feeds.Publish(tx, incidentFeed(i, paged)...); err != nil {
			return err
		}
	}
	return putNamed(tx, keyring, m)
}

// alertFeeds returns the begin of each alert of the troubles, and its end.
func alertFeeds(m moments) (items []activity.Item) {
	for _, a := range alerts(m) {
		add := func(kind, status string, at int64) {
			e := activity.AlertDecided{
				Kind: kind, Severity: a.AlertSeverity, Status: status, Title: a.Title, Headline: render.AlertName(a.Title, a.Labels),
			}
			items = append(items, activity.Item{Account: accountID, ID: a.AlertID, Channel: a.ChannelID, At: time.Unix(at, 0), Event: e})
		}
		add(activity.AlertNew, a.AlertSeverity, a.StartTime)
		if a.EndTime != 0 {
			add(activity.AlertClose, event.Ok, a.EndTime)
		}
	}
	return items
}

// pagesOf returns the messages to the persons of a trouble: to the first by the channel's rule if it has one, to the others because
// they were made responsible.
func pagesOf(m moments, t trouble, i incident.Incident, rules []channel.EscalateRule) (all []pages.Notification) {
	assigned := pages.Notification{
		Account: accountID, Incident: i.IncidentID, Event: activity.IncidentAssign, Cause: pages.Assigned, Method: "email",
		Reason: sentence.New("assigned"), Detail: pages.Detail{Severity: t.severity},
	}
	for k, turn := range t.history {
		p, n := recordOf(turn.person), assigned
		at := slices.IndexFunc(rules, func(r channel.EscalateRule) bool { return r.ChannelID == t.channel })
		if k == 0 && at >= 0 {
			n.Event, n.Cause = activity.IncidentNew, pages.Page
			n.Reason = sentence.New("on_call_in", scheduleOf(m, rules[at]))
			n.Detail = pages.Detail{Severity: t.severity, Run: 1, Rule: rules[at].RuleID, RuleName: rules[at].RuleName}
		}
		n.Person, n.Address = p.PersonID, pages.Address{To: p.Email}
		n.Settled = (i.StartTime + int64(turn.from/time.Second) + 2) * 1000
		if t.severity == event.Critical && p.Phone != "" {
			call := n
			call.Method, call.Address = "voice", pages.Address{To: p.Phone}
			all = append(all, keyed(call, k))
		}
		all = append(all, keyed(n, k))
	}
	return all
}

// scheduleOf returns the name of the schedule in the first layer of a rule.
func scheduleOf(m moments, rule channel.EscalateRule) string {
	all := configured(m).Schedules
	return all[slices.IndexFunc(all, func(s schedule.Record) bool {
		_, named := rule.Layers[0].Target.ScheduleToRoleIDs[fmt.Sprint(s.ScheduleID)]
		return named
	})].ScheduleName
}

// recordOf returns a person with the telephone number.
func recordOf(id int64) person.Record {
	all := persons()
	return all[slices.IndexFunc(all, func(p person.Record) bool { return p.PersonID == id })]
}

// keyed returns a message with the key of a turn.
func keyed(n pages.Notification, turn int) pages.Notification {
	n.Key = fmt.Sprintf("%s/past/%d/p%d/%s", n.Incident, turn, n.Person, n.Method)
	return n
}

// incidentFeed returns what happened to an incident, in order.
func incidentFeed(i incident.Incident, paged []pages.Notification) []activity.Item {
	var items []activity.Item
	add := func(at, who int64, e activity.Event) {
		items = append(items, activity.Item{
			Account: accountID, ID: i.IncidentID, Channel: i.ChannelID, At: time.Unix(at, 0), Person: who, Event: e,
		})
	}
	add(i.StartTime, 0, activity.Opened{Severity: i.Severity, Title: i.Title, Headline: i.Name(nil)})
	for k, a := range i.Assignments {
		how := activity.Assigned{How: "assign", To: []int64{a.PersonID}, PersonIDs: []int64{a.PersonID}, AssignedAt: a.AssignedAt}
		by := anna // the owner, who is notified of incidents without a rule
		switch rule := paged[0].Detail; {
		case k > 0:
			how.How, by = "reassign", i.Assignments[k-1].PersonID
		case rule.Rule != "":
			how.How, by = "escalate", 0
			how.EscalateRuleID, how.EscalateRuleName = rule.Rule, rule.RuleName
		}
		add(a.AssignedAt, by, how)
		if a.AcknowledgedAt != 0 {
			add(a.AcknowledgedAt, a.PersonID, activity.Acknowledged{})
		}
	}
	for _, s := range i.Snoozes {
		add(s.From, s.PersonID, activity.Snoozed{Minutes: (s.Until - s.From) / 60})
	}
	if room := warRoom(i.StartTime); room.IncidentID == i.IncidentID {
		add(room.CreatedAt, room.CreatedBy, activity.WarRoomOpened{WarRoom: activity.WarRoom{
			IntegrationID: room.IntegrationID, PluginType: room.PluginType, ChatID: room.ChatID, ChatName: room.ChatName, ShareLink: room.ShareLink,
		}})
	}
	for _, n := range paged {
		add(n.Settled/1000, 0, activity.Notified{
			By: n.Method, EscalateRuleID: n.Detail.Rule, EscalateRuleName: n.Detail.RuleName, FireType: "fire",
			Persons: []activity.Target{{PersonID: n.Person}},
		})
	}
	if i.CloseTime != 0 {
		add(i.CloseTime, i.CloserID, activity.Resolved{From: "manual"})
	}
	slices.SortStableFunc(items, func(a, b activity.Item) int { return cmp.Compare(a.At.Unix(), b.At.Unix()) })
	return items
}
