-- +goose Up
-- Alerts of Tocsin's own that are open: a row for each key.
CREATE TABLE own_alert (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    alert_key TEXT NOT NULL,
    channel_id BIGINT NOT NULL,         -- where it is open; 0: the account's owner was notified instead
    opened_at BIGINT NOT NULL,          -- Unix milliseconds
    ends_at BIGINT NOT NULL,            -- when it ends unless it is raised again, Unix seconds
    alert TEXT NOT NULL,                -- JSON: as it was raised last
    PRIMARY KEY (account_id, alert_key)
);
