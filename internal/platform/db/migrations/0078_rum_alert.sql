-- +goose Up
-- The issues whose alerts are open. A row is deleted when the issue is closed.
CREATE TABLE rum_alert (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    issue_id TEXT NOT NULL,
    application_id TEXT NOT NULL,
    channels TEXT NOT NULL,             -- JSON array: the channels that were alerted
    severity TEXT NOT NULL,             -- of the last event
    opened_at BIGINT NOT NULL,          -- Unix milliseconds, as the next
    alerted_at BIGINT NOT NULL,         -- of the last event
    PRIMARY KEY (account_id, issue_id)
);
