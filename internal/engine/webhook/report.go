package webhook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Trouble is an endpoint that fails for longer than maxFailing, or that is gone for good.
type Trouble struct {
	Account     int64
	Integration int64
	Name        string         // of the integration
	Kind        string         // Failing or Gone
	Error       sentence.Value // why the last attempt failed; it holds no secret. Empty: the trouble is over
}

// Kinds of trouble, as webhook_endpoint has them.
const (
	Failing = "failing" // no message was accepted for an hour
	Gone    = "gone"    // it answered 410, and its webhook was disabled
)

const maxFailing = time.Hour // after which an endpoint that fails is reported

// trouble is the state of an endpoint that its reports depend on.
type trouble struct {
	endpointKey
	since    int64  // the first failure in a row, Unix milliseconds; 0: the last attempt succeeded
	reported string // the kind of trouble that is reported; empty: none
}

// overdue reports whether the endpoint has failed for so long that it is reported.
func (t *trouble) overdue(now time.Time) bool {
	return t.since > 0 && now.Sub(time.UnixMilli(t.since)) >= maxFailing
}

// attempted reports an endpoint that fails for long, with every failure so that the alert stays open, and that it is
// over. recovered means that an attempt succeeded; why is the last failure after that.
func (r *Service) attempted(tx *db.Tx, t trouble, recovered bool, why sentence.Value, now time.Time) error {
	if recovered && t.reported == Failing {
		if err := r.report(tx, t.endpointKey, Failing, "", now); err != nil {
			return err
		}
		t.reported = ""
	}
	if why == "" || t.reported == Gone || !t.overdue(now) {
		return nil
	}
	return r.report(tx, t.endpointKey, Failing, why, now)
}

// report reports a trouble, or its end if why is empty. A report that fails must not keep the result of the attempt from
// being stored: the message would be sent again.
func (r *Service) report(tx *db.Tx, key endpointKey, kind string, why sentence.Value, now time.Time) error {
	reported := kind
	if why == "" {
		reported = ""
	}
	if err := tx.Do(`UPDATE webhook_endpoint SET reported = $3 WHERE account_id = $1 AND integration_id = $2`,
		key.account, key.integration, reported); err != nil || r.Report == nil {
		return err
	}
	failed, err := tx.Try(func() error {
		i, _, err := integration.Kind.Find(tx, key.account, strconv.FormatInt(key.integration, 10))
		if err != nil {
			return err
		}
		return r.Report(tx, Trouble{key.account, key.integration, i.IntegrationName, kind, why}, now)
	})
	if failed != nil {
		r.Log.Error("an endpoint that fails could not be reported", "integration_id", key.integration, "account_id", key.account, "error", failed)
	}
	return err
}

// disable disables a webhook whose endpoint is gone for good, as the answer to a message shows. What waits is cancelled
// when it is claimed, with a record of each message. Nothing happens if the webhook has another endpoint by now.
func (r *Service) disable(tx *db.Tx, f *attempt, why sentence.Value, now time.Time) error {
	i, found, err := integration.Kind.Find(tx, f.account, strconv.FormatInt(f.integration, 10))
	if err != nil || !found || i.Status != "enabled" || i.Settings == nil || i.Settings.Endpoint != f.Endpoint {
		return err
	}
	i.Status = "disabled"
	i.UpdatedAt = now.Unix()
	i.UpdatedBy = 0
	if err := integration.Kind.Put(tx, f.account, &i); err != nil {
		return err
	}
	if err := audit.Record(tx, api.AuditEntry{
		At: now, AccountID: f.account, PersonName: "Tocsin", Operation: "integration:write:disable", Write: true,
		Body:     fmt.Sprintf(`{"integration_id":%d,"reason":%q}`, f.integration, why.English()),
		Touched:  []fault.Ref{{Kind: configstore.Integration, ID: strconv.FormatInt(f.integration, 10), Name: i.IntegrationName}},
		Channels: i.Settings.ChannelIDs,
	}); err != nil {
		return err
	}
	if err := r.report(tx, f.key(), Failing, "", now); err != nil {
		return err
	}
	if err := calm(tx, f.key()); err != nil {
		return err
	}
	if err := r.report(tx, f.key(), Gone, why, now); err != nil {
		return err
	}
	return r.publishGone(tx, f, i.IntegrationName, why, now)
}

// publishGone enters into the feed of the incident or alert of a message that its webhook was disabled.
func (r *Service) publishGone(tx *db.Tx, f *attempt, name string, why sentence.Value, now time.Time) error {
	if r.Bus == nil || f.origin == test {
		return nil
	}
	gone := activity.WebhookGone{Kind: activity.AlertWebhook, IntegrationID: f.integration, IntegrationName: name, Reason: why}
	if f.webhookType == "incident" {
		gone.Kind = activity.IncidentWebhook
	}
	return r.Bus.Publish(tx, activity.Item{Account: f.account, ID: f.ref, Channel: f.channel, At: now, Event: gone})
}

// calm forgets the failures of an endpoint, so that they do not count when its webhook is enabled again.
func calm(tx *db.Tx, key endpointKey) error {
	return tx.Do(`UPDATE webhook_endpoint SET failures = 0, held_until = 0, failing_since = 0, reported = ''
		WHERE account_id = $1 AND integration_id = $2`, key.account, key.integration)
}

// watch reports endpoints whose retries are so far apart that none comes at the end of the hour, and ends the reports
// of webhooks that were disabled, deleted or enabled again.
func (r *Service) watch(ctx context.Context, now time.Time) (again time.Time, err error) {
	var all []trouble
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		all, err = db.All(tx, scanTrouble, `SELECT account_id, integration_id, failing_since, reported FROM webhook_endpoint
			WHERE reported <> '' OR failing_since > 0`)
		return err
	})
	for _, t := range all { // one that fails must not keep the others from being reported
		if t.reported != "" || t.overdue(now) {
			err = errors.Join(err, r.DB.WriteOf(ctx, t.account, func(tx *db.Tx) error { return r.review(tx, t.endpointKey, now) }))
		}
	}
	return again, err
}

func scanTrouble(scan db.Scan) (t trouble, err error) {
	return t, scan(&t.account, &t.integration, &t.since, &t.reported)
}

// review reports an endpoint or ends its report, as it is now.
func (r *Service) review(tx *db.Tx, key endpointKey, now time.Time) error {
	t, found, err := db.One(tx, scanTrouble, `SELECT account_id, integration_id, failing_since, reported FROM webhook_endpoint
		WHERE account_id = $1 AND integration_id = $2`, key.account, key.integration)
	if err != nil || !found {
		return err
	}
	i, exists, err := integration.Kind.Find(tx, key.account, strconv.FormatInt(key.integration, 10))
	if err != nil {
		return err
	}
	enabled := exists && i.Status == "enabled"
	switch {
	case t.reported == Gone && exists && !enabled: // as it was left
		return nil
	case t.reported != "" && enabled != (t.reported == Failing): // a choice of people ended it
		if err := r.report(tx, key, t.reported, "", now); err != nil {
			return err
		}
		return calm(tx, key)
	case !enabled || t.reported != "" || !t.overdue(now):
		return nil
	}
	_, waits, err := db.One(tx, db.Column[int64], `SELECT 1 FROM webhook_message
		WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 LIMIT 1`, key.account, key.integration)
	if err != nil || !waits { // its last message was refused for good: that is no sign that it still fails
		return err
	}
	return r.report(tx, key, Failing, sentence.Raw("messages wait since "+time.UnixMilli(t.since).UTC().Format("15:04 MST")), now)
}
