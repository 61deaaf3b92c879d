package sentence

// watchTable holds the sentences about what alert rules found: what was asked, and why an alert was closed.
var watchTable = []Pattern{
	{"mon_rule_disabled", "the rule was disabled by %s"},
	{"mon_rule_deleted", "the rule was deleted by %s"},
	{"mon_source_disabled", "the datasource %s was disabled by %s"},
	{"mon_source_deleted", "the datasource %s was deleted by %s"},
	{"mon_channel_disabled", "the channel %s was disabled by %s"},
	{"mon_channel_enabled", "the channel %s was enabled by %s"},
	{"mon_not_matched", "the rule is no longer evaluated on the datasource"},
	{"mon_asked", "the alert rule asked the datasource %s about %c"},
	{"mon_query", "query %t is %q and returned %s"},
	{"mon_no_change", "the rule has found nothing on this datasource yet"},
}
