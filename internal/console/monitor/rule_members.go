package monitor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/console/page"
	"tocsin/internal/core/evaluate"
)

// This file has the inputs of an alert rule. The template decides where they stand.

var ruleForm = page.Form{Operations: []string{"/monit/rule/create", "/monit/rule/update"}, Members: []page.Member{
	{Path: "name", Label: "Name", Hint: "It begins the title of the alerts."},
	{Path: "folder_id", Label: "Folder", Choices: folderChoices},
	{Path: "enabled", Label: "Enabled"},
	{Path: "ds_type", Label: "Kind", Choices: datasourceKinds},
	{Path: "ds_ids", Label: "Datasources"},
	{Path: "ds_list", Label: "Or all with these names",
		Hint: "One on each line; * stands for any characters. Datasources of later days match too."},
	{Path: "rule_configs.queries", Label: "Queries", Rows: queryMembers, New: newQuery},
	{Path: "rule_configs.relate_queries", Label: "Further queries for the description",
		Hint: "Asked when an alert begins or is sent again. They decide nothing.", Rows: queryMembers, New: newRelated},
	{Path: "rule_configs.check_threshold.enabled", Label: "This is an alert"},
	{Path: "rule_configs.check_threshold.critical", Label: "Critical", Hint: "Such as $A > 90, or $A > 90 and $B < 50."},
	{Path: "rule_configs.check_threshold.warning", Label: "Warning"},
	{Path: "rule_configs.check_threshold.info", Label: "Info"},
	{Path: "rule_configs.check_threshold.alerting_check_times", Label: "Evaluations in a row until it is an alert"},
	{Path: "rule_configs.check_threshold.recovery_check_times", Label: "Evaluations in a row until it is over"},
	{Path: "rule_configs.check_threshold.push_recovery_event", Label: "Send the end of its alerts"},
	{Path: "rule_configs.check_threshold.missing", Label: "When its series is missing", Options: []page.Option{
		{Value: "", Text: "the alert ends as gone"}, {Value: "keep", Text: "the alert goes on"},
	}},
	{Path: "rule_configs.check_threshold.recovery.mode", Label: "It is over when", Options: []page.Option{
		{Value: "invert", Text: "no limit is passed any more"}, {Value: "threshold", Text: "the expression below holds"},
		{Value: "ql", Text: "the query below has a row"},
	}},
	{Path: "rule_configs.check_threshold.recovery.condition", Label: "Expression or query of the end",
		Hint: "Such as $A < 75. A query names the labels of the alert, such as ${host}."},
	{Path: "rule_configs.check_threshold.recovery.args", Label: "Settings of the query of the end, one name: value on each line"},
	{Path: "rule_configs.check_anydata.enabled", Label: "This is an alert"},
	{Path: "rule_configs.check_anydata.severity", Label: "Severity", Options: severities},
	{Path: "rule_configs.check_anydata.alerting_check_times", Label: "Evaluations in a row until it is an alert"},
	{Path: "rule_configs.check_anydata.recovery_check_times", Label: "Evaluations in a row until it is over"},
	{Path: "rule_configs.check_anydata.push_recovery_event", Label: "Send the end of its alerts"},
	{Path: "rule_configs.check_anydata.recovery.mode", Label: "It is over when", Options: []page.Option{
		{Value: "nodata", Text: "the row is gone"}, {Value: "ql", Text: "the query below has a row"},
	}},
	{Path: "rule_configs.check_anydata.recovery.condition", Label: "Query of the end"},
	{Path: "rule_configs.check_anydata.recovery.args", Label: "Settings of the query of the end, one name: value on each line"},
	{Path: "rule_configs.check_nodata.enabled", Label: "This is an alert"},
	{Path: "rule_configs.check_nodata.severity", Label: "Severity", Options: severities},
	{Path: "rule_configs.check_nodata.alerting_check_times", Label: "Evaluations in a row until it is an alert"},
	{Path: "rule_configs.check_nodata.recovery_check_times", Label: "Evaluations in a row until it is over"},
	{Path: "rule_configs.check_nodata.push_recovery_event", Label: "Send the end of its alerts"},
	{Path: "rule_configs.check_nodata.resolve_timeout", Label: "Seconds after which a missing series is forgotten", Hint: "0: never."},
	{Path: "cron_pattern", Label: "How often",
		Hint: "@every and a duration, or a pattern of cron: minute, hour, day, month, day of the week."},
	{Path: "timezone", Label: "Time zone", Hint: "Such as Europe/Berlin. Empty: that of the account."},
	{Path: "delay_seconds", Label: "Seconds that the data arrives late", Hint: "The queries ask about so much earlier."},
	{Path: "enabled_times", Label: "Only at certain hours", Rows: windowMembers, New: newWindow},
	{Path: "channel_ids", Label: "Channels", Kind: page.Channels, Hint: "Without a channel the route of the integration Monitors decides."},
	{Path: "labels", Label: "Labels, one name: value on each line"},
	{Path: "description", Label: "Description of the alerts", Kind: page.Long, Hint: "A template over the labels and values of the alert."},
	{Path: "description_type", Label: "The description is written in", Options: []page.Option{
		{Value: "text", Text: "Plain text"}, {Value: "markdown", Text: "Markdown"},
	}},
	{Path: "annotations", Label: "Texts for the description, one name: value on each line"},
	{Path: "repeat_interval", Label: "Seconds after which an alert that goes on is sent again", Hint: "No person is notified again."},
	{Path: "repeat_total", Label: "How often it is sent again at most", Hint: "0: without end."},
	{Path: "rule_configs.unknown_after_seconds", Label: "Seconds without an answer after which the rule is unknown",
		Hint: "0: three intervals, at least two minutes."},
	{Path: "debug_log_enabled", Label: "Debug log: a mark for other programs, as every evaluation is kept"},
}}

var queryMembers = []page.Member{
	{Path: "name", Label: "Letter"},
	{Path: "expr", Label: "Query", Kind: page.Long, Hint: "In the language of the datasource."},
	{Path: "value_fields", Label: "Columns that are values", Hint: "One on each line. Prometheus needs none."},
	{Path: "label_fields", Label: "Columns that identify a row", Hint: "One on each line. Empty: all that are not values."},
	{Path: "args", Label: "Settings of the kind, one name: value on each line"},
}

var windowMembers = []page.Member{
	{Path: "stime", Label: "From", Hint: "Such as 09:00."},
	{Path: "etime", Label: "Until", Hint: "Such as 17:00."},
	{Path: "days", Label: "Days", Choices: weekdays},
}

var severities = []page.Option{
	{Value: "Warning", Text: "Warning"}, {Value: "Critical", Text: "Critical"}, {Value: "Info", Text: "Info"},
}

func newQuery(row int) any { return evaluate.Query{Name: string(rune('A' + row))} }

// newRelated begins with a letter that no other query has.
func newRelated(row int) any { return evaluate.Query{Name: string(rune('Z' - row))} }

func newWindow(int) any {
	return evaluate.Window{Days: []int64{1, 2, 3, 4, 5}, Stime: "09:00", Etime: "17:00"}
}

func folderChoices(v *page.Visit) ([]page.Option, error) {
	all, err := ruleFolders(v)
	return folderOptions(all), err
}

func weekdays(v *page.Visit) (options []page.Option, _ error) {
	for day, name := range v.WeekdayNames() {
		options = append(options, page.Option{Value: strconv.Itoa(day), Text: name})
	}
	return options, nil
}

func datasourceKinds(*page.Visit) (options []page.Option, _ error) {
	for _, one := range datasourceTypes {
		options = append(options, page.Option{Value: one.kind, Text: one.product})
	}
	return options, nil
}

// datasourceChoices returns the datasources by name; none for visitors who may not read them.
func datasourceChoices(v *page.Visit) (options []page.Option, err error) {
	names, err := datasourceNames(v)
	for id, name := range names {
		options = append(options, page.Option{Value: strconv.FormatUint(id, 10), Text: name})
	}
	slices.SortFunc(options, func(a, b page.Option) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), strings.Compare(a.Value, b.Value))
	})
	return options, err
}
