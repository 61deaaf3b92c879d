-- +goose Up
-- Changes that were made to systems, as those who made them told.
CREATE TABLE change (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    change_id TEXT NOT NULL,            -- 24 hexadecimal digits
    integration_id BIGINT NOT NULL,
    channel_id BIGINT NOT NULL,         -- 0: none
    change_key TEXT NOT NULL,           -- events with the same key are about the same change
    start_time BIGINT NOT NULL,         -- Unix seconds, as the next
    last_time BIGINT NOT NULL,
    body TEXT NOT NULL,                 -- JSON: the change with its latest events
    PRIMARY KEY (account_id, change_id)
);
CREATE UNIQUE INDEX change_by_key ON change (account_id, integration_id, change_key);
CREATE INDEX change_by_time ON change (account_id, start_time, change_id);

-- Signs of life of heartbeat integrations.
CREATE TABLE heartbeat (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    integration_id BIGINT NOT NULL,
    last_at BIGINT NOT NULL,            -- the last sign of life, Unix seconds
    missed BOOLEAN NOT NULL,            -- its alert was raised
    PRIMARY KEY (account_id, integration_id)
);
