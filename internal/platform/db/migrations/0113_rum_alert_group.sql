-- +goose Up
-- Issues that are one incident: those that are new in one version within some minutes, or those beyond the bound of an hour,
-- which share an alert.
ALTER TABLE rum_alert ADD COLUMN alert_key TEXT NOT NULL DEFAULT '';     -- of the alert that it shares; empty: it has its own
ALTER TABLE rum_alert ADD COLUMN joined BOOLEAN NOT NULL DEFAULT FALSE;  -- the incident of another issue: it opened none
CREATE INDEX rum_alert_by_application ON rum_alert (account_id, application_id, opened_at);
CREATE INDEX rum_alert_by_key ON rum_alert (account_id, alert_key);
CREATE TABLE rum_alert_group (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    group_key TEXT NOT NULL,
    application_id TEXT NOT NULL,
    version TEXT NOT NULL,              -- in which the issues are new; empty: they are those beyond the bound of an hour
    channels TEXT NOT NULL,             -- JSON array: the channels that were alerted
    severity TEXT NOT NULL,             -- the highest of its issues
    opened_at BIGINT NOT NULL,          -- Unix milliseconds
    issues BIGINT NOT NULL,             -- how many began
    listed TEXT NOT NULL,               -- JSON array: the most severe ones with their titles
    PRIMARY KEY (account_id, group_key)
);
CREATE INDEX rum_alert_group_by_version ON rum_alert_group (account_id, application_id, version, opened_at);
