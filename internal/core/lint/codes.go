package lint

import (
	"fmt"
	"strings"
)

// The severities of findings.
const (
	Error   = "error"   // an event can reach no one
	Warning = "warning" // an event can reach no one at some times or with some contents, or later than expected
	Info    = "info"    // silent by choice, or not to be proven
)

// Code names a kind of finding. Codes are part of the API: they do not change.
type Code string

// The codes of findings.
const (
	ServerSendsNothing  Code = "server_sends_nothing"
	OwnerUnreachable    Code = "owner_unreachable"
	SourceWithoutTarget Code = "source_without_channel"
	RouteWithoutDefault Code = "route_without_default"
	ChannelWithoutRule  Code = "channel_without_rule"
	SeverityUncovered   Code = "severity_uncovered"
	RulePagesNoOne      Code = "rule_pages_no_one"
	DropsEverything     Code = "drops_everything"
	SilencesEverything  Code = "silences_everything"
	ConditionsUncovered Code = "conditions_uncovered"
	HoursUncovered      Code = "hours_uncovered"
	StepWithoutPerson   Code = "step_without_person"
	OnCallGap           Code = "on_call_gap"
	ClockChangeGap      Code = "clock_change_gap"
	LayerNeverOnCall    Code = "layer_never_on_call"
	HoursCut            Code = "hours_cut"
	TurnsDrift          Code = "turns_drift"
	LayerOver           Code = "layer_over"
	ValueWithoutEffect  Code = "value_without_effect"
	OnCallTwice         Code = "on_call_twice"
	ScheduleUnproven    Code = "schedule_unproven"
	PersonUnreachable   Code = "person_unreachable"
	MethodNotSendable   Code = "method_not_sendable"
	PushWithoutBrowser  Code = "push_without_browser"
	ChatUnusable        Code = "chat_unusable"
	FilterNeverMatches  Code = "filter_never_matches"
	ValueNeverOccurs    Code = "value_never_occurs"
	SeverityUnknown     Code = "severity_unknown"
	LongSilence         Code = "long_silence"
	QuietHoldsCritical  Code = "quiet_hours_hold_critical"
	ReservedVariable    Code = "reserved_variable"
	ChannelDisabled     Code = "channel_disabled"
	CoverUnproven       Code = "cover_unproven"
	FallbackNotSet      Code = "fallback_not_set"
	FallbackUnreachable Code = "fallback_unreachable"
	ProxyNotTrusted     Code = "proxy_not_trusted"
	RuleMatchesNothing  Code = "rule_matches_nothing"
	RuleWithoutChannel  Code = "rule_without_channel"
	RuleNeverHadRow     Code = "rule_never_had_row"
	DelayZeroOnLogs     Code = "delay_zero_on_logs"
	DatasourceNameTwice Code = "datasource_name_twice"
	SecretNotAllowed    Code = "secret_not_allowed"
	RulesAlike          Code = "rules_alike"
	RuleEndsSilently    Code = "rule_ends_silently"
	SourceWithoutEdge   Code = "datasource_without_edge"
	RoleCanWrite        Code = "role_can_write"
)

// Kind describes all findings of one code.
type Kind struct {
	Code     Code
	Severity string
	Means    string
	Fix      string
}

// Kinds lists all codes, the worst first.
var Kinds = []Kind{
	{ServerSendsNothing, Error, "The server has neither a mail server nor a gateway nor an account at Twilio, so pages reach only chats.",
		"Start the server with --smtp and --smtp-from, with --gateway or with --twilio-account."},
	{OwnerUnreachable, Error, "The account's owner, who is notified when no other person can be, cannot be reached.",
		"Give the owner an e-mail address."},
	{SourceWithoutTarget, Error, "An integration that takes alerts has neither a channel nor a route: its alerts are unrouted.",
		"Set channel_id of the integration, or give it a route with a default."},
	{RouteWithoutDefault, Error, "Alerts that meet no case of the route are unrouted.",
		"Give the route a default with a channel."},
	{ChannelWithoutRule, Error, "The channel has no enabled escalation rule, so its incidents reach only the account's fallback.",
		"Create an escalation rule for the channel, or enable one."},
	{SeverityUncovered, Error, "No escalation rule of the channel can match incidents of the severity.",
		"Add an escalation rule without filters as the last one, or one for the severity."},
	{RulePagesNoOne, Error, "Not one step of the escalation rule reaches a person, an address or a chat for the severity.",
		"Add a person, a team or a schedule that can be reached to the rule."},
	{DropsEverything, Error, "A drop rule or a pipeline rule matches every alert.",
		"Give the rule a condition that only the unwanted alerts meet, or disable it."},
	{SilencesEverything, Error, "A silence rule matches every alert of the channel.",
		"Give the rule a condition, or disable the channel if it must be silent."},
	{RuleMatchesNothing, Error, "An alert rule matches no enabled datasource: it is never evaluated.",
		"Correct ds_ids or ds_list of the rule, or enable the datasource."},
	{RuleWithoutChannel, Error, "The alerts of an alert rule are taken by no channel.",
		"Set channel_ids of the rule to a channel that is enabled, or give the integration Monitors a route with a default."},
	{SourceWithoutEdge, Error,
		"The edges of a cluster ask a datasource of alert rules, and none of them is in touch: these rules are not evaluated.",
		"Start an edge with a key of the cluster, or correct edge_cluster_name of the datasource."},
	{ConditionsUncovered, Warning, "Rules match incidents of the severity, but some contents are matched by none.",
		"Add an escalation rule without filters as the last one."},
	{HoursUncovered, Warning, "Within the next 14 days there is a time at which no escalation rule is active for the severity.",
		"Add an escalation rule without time_filters as the last one."},
	{StepWithoutPerson, Warning,
		"A part of a step leads to no person: an empty team, a schedule that is empty or disabled, a person who has left.",
		"Replace the part, or put persons into the team or schedule."},
	{OnCallGap, Warning, "A schedule that pages has no one on call at some time within the next 90 days.",
		"Close the gap with a layer or an override, or add a second step to the rules that use the schedule."},
	{ClockChangeGap, Warning,
		"Layers in different time zones meet only on one side of a clock change; on the other there is a hole of an hour.",
		"Let one of the layers begin an hour earlier or end an hour later: where both are on call, both are paged."},
	{LayerNeverOnCall, Warning, "A layer of a schedule begins only after more than 400 days, or its mask and hours leave nothing of its time.",
		"Correct the layer's start, end, mask or hours."},
	{HoursCut, Warning, "The days of a layer begin within its hours, so that hours are cut where a day is left out: a night at midnight.",
		"Set mask_continuous_enabled, and let layer_start be at the time of day at which the hours begin."},
	{PersonUnreachable, Warning, "A person whom a rule pages has no method that can reach them for the severity.",
		"Give the person an address for the method, or let the rule or the preference use another method."},
	{MethodNotSendable, Warning, "A rule or a preference names a method that the server cannot send.",
		"Start the server with --smtp (email), --gateway or --twilio-account (sms, voice), or choose another method."},
	{PushWithoutBrowser, Warning,
		"A rule or a preference notifies a person by push, and no browser of theirs receives it: another method is used.",
		"Let the person turn push on in a browser, on the page of their settings."},
	{ChatUnusable, Warning, "A chat of an escalation rule has no address or names an integration that cannot be used.",
		"Complete the chat's settings, or enable the integration."},
	{FallbackUnreachable, Warning, "Persons of the account's fallback cannot be reached.",
		"Give them an address, or set others with /account/fallback/update."},
	{ProxyNotTrusted, Warning,
		"A proxy forwards calls, and --trusted-proxies does not name it: no bound per address holds for browser errors, and others are shared.",
		"Start the server with --trusted-proxies and the proxy's network."},
	{FilterNeverMatches, Warning, "A group of conditions can never be met.",
		"Correct the conditions; values are compared with their case."},
	{ValueNeverOccurs, Warning, "A condition names a value that the field never has, such as a severity in lower case.",
		"Write Critical, Warning, Info or Ok as here."},
	{SeverityUnknown, Warning, "An integration sends severities that Tocsin does not know: without another sign such an event is a Warning.",
		"Map the words on the integration's page, or with severity_map of its settings."},
	{LongSilence, Warning, "A silence lasts longer than 30 days, or its windows leave no minute out.",
		"Shorten the silence, or drop the alerts if no one needs them."},
	{QuietHoldsCritical, Warning, "A person's quiet hours delay Critical notifications.",
		"Add Critical to but of the quiet hours, or leave but empty."},
	{ReservedVariable, Warning, "A datasource refers to an environment variable whose name begins with TOCSIN_, which is the server's own.",
		"Give the variable another name where the datasource is used, and refer to that."},
	{RuleNeverHadRow, Warning,
		"An alert rule that needs rows has had none for a long time, on this server: its query may name what does not exist.",
		"Correct the query: /monit/preview/sync shows what it returns."},
	{DelayZeroOnLogs, Warning, "An alert rule asks a log service about the present, whose last lines cannot be found yet.",
		"Set delay_seconds of the rule, such as to 30."},
	{DatasourceNameTwice, Warning,
		"Two datasources of one type and name are matched by one rule: which of them an alert is about cannot be seen.",
		"Give each datasource a name of its own."},
	{SecretNotAllowed, Warning,
		"A datasource refers to a variable of the environment that neither the server nor an edge of its cluster resolves for its host.",
		"Start the server, or the edges of the cluster, with --secret-env NAME=HOST, and with the variable."},
	{RoleCanWrite, Warning, "A datasource is asked with a role that may do more than read, as its last test found.",
		"Give it a role that may only read, and test it again with /monit/datasource/test."},
	{CoverUnproven, Info, "Whether the channel's rules match every incident of the severity depends on patterns, and no exception was found.",
		"Add an escalation rule without filters as the last one."},
	{FallbackNotSet, Info, "The account has no fallback, so only its owner is notified of what reaches no one else.",
		"Set persons, a team or an escalation rule with /account/fallback/update."},
	{OnCallTwice, Info, "A person is on call twice at once: in two roles, by two layers, or in two schedules.",
		"If it is not meant, change one of the layers, or let another person cover one of the shifts."},
	{ScheduleUnproven, Info, "A schedule has so many shifts, or such large groups, that it was not looked at completely.",
		"Use longer turns, fewer periods of hours or smaller groups."},
	{TurnsDrift, Info, "Turns in hours are elapsed time: they change at another time of day after the clocks of the layer's zone change.",
		"Use rotation_unit day, with a layer for each shift and its hours in restrict_periods."},
	{ValueWithoutEffect, Info, "A value of a schedule's layer has no effect, or is probably not meant.",
		"Remove the value, or correct what makes it ineffective."},
	{LayerOver, Info, "Layers of a schedule have ended.",
		"Remove them from the schedule."},
	{RulesAlike, Info, "Alert rules differ in one value of their queries alone: one rule could be all of them, and asks once.",
		"Make one rule whose query has no such value, or a pattern: each series has an alert of its own."},
	{RuleEndsSilently, Info, "An alert rule does not send the end of its alerts: they end by hand, or by the timeout of their channel.",
		"Set push_recovery_event of the rule's checks, unless it is meant."},
	{ChannelDisabled, Info, "The channel is disabled: it takes alerts and notifies no one.",
		"Enable the channel, or delete it and what sends to it."},
}

// kindOf returns the description of a code.
func kindOf(code Code) Kind {
	for _, k := range Kinds {
		if k.Code == code {
			return k
		}
	}
	panic("no description of " + code) // a test holds the list
}

// Table returns the codes as a table in Markdown, for docs/lint.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| code | severity | what it means | how to fix it |\n|---|---|---|---|\n")
	for _, k := range Kinds {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Code, k.Severity, k.Means, k.Fix)
	}
	return b.String()
}
