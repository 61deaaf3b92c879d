-- +goose Up
-- How an integration is found by the key that comes with its events. The key itself is sealed in the object.
CREATE TABLE integration_key (
    key_hash TEXT PRIMARY KEY,          -- SHA-256 of the key, hex
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    integration_id TEXT NOT NULL,       -- the id of the object
    expires_at BIGINT NOT NULL          -- Unix seconds until which a replaced key still works; 0: the present key
);
CREATE INDEX integration_key_of ON integration_key (account_id, integration_id);
