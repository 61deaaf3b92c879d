-- +goose Up
-- The accounts that were moved to another database, so that their senders are told to try there.
CREATE TABLE moved (
    moved_account BIGINT PRIMARY KEY,   -- of no account here, so it refers to none
    address TEXT NOT NULL,              -- where it is served now; empty: not known
    moved_at BIGINT NOT NULL            -- Unix seconds
);
CREATE TABLE moved_key (
    key_hash TEXT PRIMARY KEY,          -- SHA-256 of an app key or integration key that was the account's, hex
    moved_account BIGINT NOT NULL REFERENCES moved ON DELETE CASCADE
);
