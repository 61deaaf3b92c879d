-- +goose Up
-- Severities that integrations sent and that were unknown: of each integration the 20 words that came last.
CREATE TABLE unknown_severity (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    integration_id BIGINT NOT NULL,
    word TEXT NOT NULL,                 -- in lower case
    events BIGINT NOT NULL,             -- since it came for the first time
    last_at BIGINT NOT NULL,            -- Unix seconds
    PRIMARY KEY (account_id, integration_id, word)
);
CREATE INDEX unknown_severity_by_age ON unknown_severity (last_at);
