package webhook

import (
	"cmp"

	"tocsin/internal/console/page"
)

// eventWords are the texts of the events that webhooks send.
var eventWords = map[string]string{
	"a_new":        "Alert began",
	"a_update":     "Alert changed",
	"a_merge":      "Alert merged",
	"a_close":      "Alert ended",
	"i_new":        "Opened",
	"i_assign":     "Assigned",
	"i_a_rspd":     "Responder added",
	"i_snooze":     "Snoozed",
	"i_wake":       "Snooze ended",
	"i_ack":        "Acknowledged",
	"i_unack":      "Acknowledgement undone",
	"i_storm":      "Alert storm",
	"i_custom":     "Custom action",
	"i_rslv":       "Resolved",
	"i_reopen":     "Reopened",
	"i_merge":      "Merged",
	"i_comm":       "Note added",
	"i_r_title":    "Title changed",
	"i_r_desc":     "Description changed",
	"i_r_impact":   "Impact changed",
	"i_r_rc":       "Root cause changed",
	"i_r_rsltn":    "Resolution changed",
	"i_r_severity": "Severity changed",
	"i_r_field":    "Custom field changed",
}

// eventWord names an event that a webhook sends; an unknown one as the API does.
func eventWord(v *page.Visit, kind string) string { return v.T(cmp.Or(eventWords[kind], kind)) }
