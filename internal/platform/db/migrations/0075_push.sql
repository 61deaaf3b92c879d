-- +goose Up
-- Web Push: the key of this server, and the browsers that persons receive notifications with.
CREATE TABLE push_key (                 -- of RFC 8292. One row, made at the first start
    key_id BIGINT PRIMARY KEY,          -- 1
    public_key TEXT NOT NULL,           -- base64url
    private_key TEXT NOT NULL           -- sealed
);
CREATE TABLE push_subscription (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    subscription_id BIGINT NOT NULL,
    person_id BIGINT NOT NULL,
    digest TEXT NOT NULL,               -- hexadecimal SHA-256 of the endpoint, by which a browser recognises its own
    name TEXT NOT NULL,                 -- of the browser, for people
    host TEXT NOT NULL,                 -- of the endpoint
    target TEXT NOT NULL,               -- the endpoint and the browser's keys, sealed
    public_key TEXT NOT NULL,           -- of this server, which the browser was given: no other can send to it
    created_at BIGINT NOT NULL,         -- Unix seconds
    tried_at BIGINT NOT NULL,           -- Unix seconds of the last message, to the minute; 0: none was sent
    problem TEXT NOT NULL,              -- why the last message was not taken; empty: it was
    PRIMARY KEY (account_id, subscription_id)
);
CREATE UNIQUE INDEX push_subscription_digest ON push_subscription (account_id, digest);
CREATE INDEX push_subscription_of_person ON push_subscription (account_id, person_id);
