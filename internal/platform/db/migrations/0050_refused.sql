-- +goose Up
-- Events that integrations sent and that were not taken, by the minute.
CREATE TABLE refused (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    integration_id BIGINT NOT NULL,
    minute BIGINT NOT NULL,             -- Unix time in minutes
    reason TEXT NOT NULL,               -- malformed, too_many, too_large, rate, key, disabled, busy or truncated
    events BIGINT NOT NULL,             -- a request whose events are not known counts as one
    detail TEXT NOT NULL,               -- why the last of them was refused, in words
    PRIMARY KEY (account_id, integration_id, minute, reason)
);
CREATE INDEX refused_by_minute ON refused (minute);
