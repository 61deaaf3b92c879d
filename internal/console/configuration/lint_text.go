package configuration

import (
	"cmp"

	"tocsin/internal/core/lint"
)

// findingTitles are the texts of the codes of findings.
var findingTitles = map[string]string{
	"server_sends_nothing":      "The server can send nothing",
	"proxy_not_trusted":         "A proxy is not trusted",
	"owner_unreachable":         "The owner cannot be reached",
	"source_without_channel":    "Its alerts lead to no channel",
	"route_without_default":     "The route has no default",
	"channel_without_rule":      "No escalation rule",
	"severity_uncovered":        "A severity that no rule matches",
	"rule_pages_no_one":         "The rule reaches nobody",
	"drops_everything":          "It drops every alert",
	"silences_everything":       "It silences every alert",
	"conditions_uncovered":      "Incidents that no rule matches",
	"hours_uncovered":           "Hours without an active rule",
	"step_without_person":       "A step that leads to no person",
	"on_call_gap":               "Hours without anyone on call",
	"clock_change_gap":          "A hole at the change of clocks",
	"layer_never_on_call":       "A layer that is never on call",
	"hours_cut":                 "Hours that are cut",
	"person_unreachable":        "A person who cannot be reached",
	"method_not_sendable":       "A method that the server cannot send",
	"push_without_browser":      "Push without a browser",
	"chat_unusable":             "A chat that cannot be used",
	"fallback_unreachable":      "The fallback cannot be reached",
	"filter_never_matches":      "Conditions that are never met",
	"value_never_occurs":        "A value that never occurs",
	"severity_unknown":          "Severities that are unknown",
	"long_silence":              "A very long silence",
	"quiet_hours_hold_critical": "Quiet hours delay critical notifications",
	"reserved_variable":         "A datasource names a variable of the server",
	"rule_matches_nothing":      "A rule that matches no datasource",
	"rule_without_channel":      "A rule whose alerts no channel takes",
	"rule_never_had_row":        "A rule whose query returns nothing",
	"delay_zero_on_logs":        "A rule that asks logs too early",
	"datasource_name_twice":     "Two datasources of one name",
	"secret_not_allowed":        "A secret that is not resolved",
	"rules_alike":               "Rules that could be one",
	"datasource_without_edge":   "A datasource that no edge asks",
	"role_can_write":            "A role that can write",
	"rule_ends_silently":        "A rule that sends no end",
	"cover_unproven":            "Whether all incidents are matched is not proven",
	"fallback_not_set":          "No fallback is set",
	"on_call_twice":             "On call twice at once",
	"schedule_unproven":         "The schedule was not looked at completely",
	"turns_drift":               "Turns that drift when the clocks change",
	"value_without_effect":      "A value without effect",
	"layer_over":                "Layers that have ended",
	"channel_disabled":          "The channel is disabled",
}

// Title names the problem: by its code when that is not known here.
func (f finding) Title() string { return cmp.Or(findingTitles[string(f.Code)], string(f.Code)) }

// fixes are the texts of what fixes a problem in the console, where that of the API names its members.
var fixes = map[lint.Code]string{
	lint.SourceWithoutTarget: "Choose a channel for the integration, or give it a route with a default.",
	lint.HoursUncovered:      "Add an escalation rule that is always active as the last one.",
	lint.HoursCut:            "Let nights go on past midnight, and let the layer start when its hours begin.",
	lint.TurnsDrift:          "Use turns of days, with a layer for each shift.",
	lint.FallbackNotSet:      "Set persons, a team or an escalation rule as the account's fallback.",
	lint.FallbackUnreachable: "Give them an address, or set others as the fallback.",
	lint.SeverityUnknown:     "Map the words on the integration's page.",
	lint.QuietHoldsCritical:  "Let Critical through the quiet hours.",
	lint.RuleMatchesNothing:  "Correct the datasources of the rule, or enable one.",
	lint.RuleWithoutChannel:  "Choose an enabled channel for the rule, or give the integration Monitors a route with a default.",
	lint.RuleNeverHadRow:     "Correct the query: the form of the rule shows what it returns.",
	lint.DelayZeroOnLogs:     "Set a delay for the rule, such as 30 seconds.",
	lint.RuleEndsSilently:    "Let the rule's checks send their end, unless it is meant.",
	lint.SourceWithoutEdge:   "Start an edge with a key of the cluster, or correct the cluster of the datasource.",
	lint.RoleCanWrite:        "Give it a role that may only read, and test it again.",
}

// FixText returns what fixes the problem.
func (f finding) FixText() string { return cmp.Or(fixes[f.Code], f.Fix) }
