-- +goose Up
-- Accounts take turns in deciding: what waits is found account by account.
DROP INDEX event_pending;
CREATE INDEX event_pending ON event (account_id, received_at) WHERE decided_at = 0;
DROP INDEX alert_muted;
CREATE INDEX alert_muted ON alert (account_id, muted_until) WHERE end_time = 0 AND muted_until > 0;
DROP INDEX escalation_due;
CREATE INDEX escalation_due ON escalation (account_id, next_at) WHERE next_at > 0;
