-- +goose Up
-- Addresses of calendar feeds. An address has the account, the feed and a secret, of which only a hash is stored.
CREATE TABLE ical_feed (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    feed_id TEXT NOT NULL,              -- 24 hexadecimal digits
    kind TEXT NOT NULL,                 -- schedule, person or team
    target_id BIGINT NOT NULL,          -- the schedule, person or team
    time_zone TEXT NOT NULL,            -- IANA zone; empty: that of the schedule or person, else the account's
    secret_hash TEXT NOT NULL,          -- SHA-256 of the secret, hexadecimal
    expires_at BIGINT NOT NULL,         -- Unix seconds; 0: never
    history TEXT NOT NULL,              -- JSON: which events were sent and when each was changed; empty: none
    created_at BIGINT NOT NULL,
    created_by BIGINT NOT NULL,         -- the person; the feed is there only while they may read schedules
    read_at BIGINT NOT NULL,            -- when it was read last, an hour late at most; 0: never
    PRIMARY KEY (account_id, feed_id)
);
