package page

import (
	"tocsin/internal/alert"
	"tocsin/internal/core/render"
)

// AlertRow is an alert, as lists and its page show it.
type AlertRow struct{ alert.Alert }

// AlertRows returns alerts as lists show them.
func AlertRows(alerts []alert.Alert) []AlertRow {
	rows := make([]AlertRow, len(alerts))
	for i, a := range alerts {
		rows[i] = AlertRow{a}
	}
	return rows
}

// Name returns what is wrong, as messages call it.
func (a AlertRow) Name() string { return render.AlertName(a.Title, a.Labels) }

// State returns what an alert is in, in one word of the catalog.
func (a AlertRow) State() string {
	switch {
	case a.EndTime != 0:
		return "Ended"
	case a.Muted != "":
		return map[string]string{
			"silenced": "Silenced", "inhibited": "Inhibited", "flapping": "Flapping", "channel_disabled": "Channel disabled",
		}[a.Muted]
	case a.FlappingUntil != 0 && a.AlertStatus == "Ok":
		return "Ended for now"
	}
	return "Firing"
}
