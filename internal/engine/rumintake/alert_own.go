package rumintake

import (
	"fmt"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/rum"
)

// raiseTooMany raises the alert that errors of further kinds are no issues.
func (w *writer) raiseTooMany(a *rum.Application, now time.Time) error {
	return w.Own.Raise(w.tx, selfalert.Alert{
		Account: w.account, Key: "rum/issues/" + a.ApplicationID, Channel: first(a), Severity: event.Warning, Lasts: hour,
		Title: fmt.Sprintf("The application %s has more than %d new issues within an hour", a.ApplicationName, maxNewIssues),
		Text: "Until then, errors of further kinds count on the issue Other errors of the application. If the messages differ by what " +
			"they quote, the page can set a fingerprint. If the client token is misused, give the application a new token, or list " +
			"its allowed_origins.",
		Labels: map[string]string{"application_id": a.ApplicationID},
	}, now)
}

// raiseUnrouted raises the alert that none of the application's channels takes alerts: the account's owner is notified.
func (w *writer) raiseUnrouted(a *rum.Application, issue *rum.Issue, now time.Time) error {
	return w.Own.Raise(w.tx, selfalert.Alert{
		Account: w.account, Key: "rum/channels/" + a.ApplicationID, Severity: issue.Severity, Lasts: repeatGap,
		Title: fmt.Sprintf("The application %s has an issue, and no channel that takes its alerts", a.ApplicationName),
		Text:  "Set alerting.channel_ids of the application to a channel that is enabled, or disable its alerting.",
	}, now)
}

// first returns the first channel of an application; 0: it has none.
func first(a *rum.Application) int64 {
	if !a.Alerting.Enabled || len(a.Alerting.ChannelIDs) == 0 {
		return 0
	}
	return a.Alerting.ChannelIDs[0]
}
