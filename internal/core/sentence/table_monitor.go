package sentence

// monitorTable holds the reasons of alert rules: why an instance began, changed or ended.
var monitorTable = []Pattern{
	{"mon_holds", "%q holds: %t %t %t"},
	{"mon_not_holds", "%q does not hold: %t %t %t"},
	{"mon_row", "the query returned a row"},
	{"mon_missing", "the series is missing in the answer"},
	{"mon_reached", "%g or worse in the last %d answers"},
	{"mon_below", "below %g in the last %d answers"},
	{"mon_missing_times", "missing in the last %d answers"},
	{"mon_recovered_times", "recovered in the last %d answers"},
	{"mon_recovery_row", "the recovery query returned a row"},
	{"mon_no_row", "the query returned no row for it"},
	{"mon_back", "the series is back"},
	{"mon_open", "it is still open"},
	{"mon_changed", "the rule was changed, and its query no longer returns the series"},
	{"mon_changed_by", "the rule was changed by %s, and its query no longer returns the series"},
	{"mon_check_off", "the rule was changed, and no longer has this check"},
	{"mon_check_off_by", "the rule was changed by %s, and no longer has this check"},
	{"mon_not_seen_days", "the series was not seen for %d days"},
	{"mon_not_seen_minutes", "the series was not seen for %d minutes"},
	{"mon_not_seen_seconds", "the series was not seen for %d seconds"},
	{"mon_too_many", "the rule matches %d series, more than %d, so no alert of it begins"},
	{"mon_within", "the rule matches no more than %d series"},
	{"mon_condition", "the recovery condition holds"},
	{"mon_no_severity", "no severity holds"},
	{"mon_reconciled", "the edge found it while the server could not be reached, or the server had lost it"},
}
