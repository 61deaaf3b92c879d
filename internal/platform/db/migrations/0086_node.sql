-- +goose Up
-- The processes that serve this database, each as its last heartbeat described it. The embedded engine has one process
-- and no rows here.
CREATE TABLE node (
    node_id TEXT PRIMARY KEY,           -- made at the start of the process
    name TEXT NOT NULL,                 -- of its machine
    address TEXT NOT NULL,              -- that it listens on
    version TEXT NOT NULL,              -- of the program
    seal_keys TEXT NOT NULL,            -- ids of its sealing keys, separated by commas; it seals with the first
    clock_offset BIGINT NOT NULL,       -- what is added to its machine's clock, milliseconds
    started_at BIGINT NOT NULL,         -- Unix milliseconds
    seen_at BIGINT NOT NULL             -- Unix milliseconds
);

-- When the jobs that run once a day last began, on whichever node.
CREATE TABLE daily_job (
    name TEXT PRIMARY KEY,
    began_at BIGINT NOT NULL            -- Unix seconds
);

-- How often alerts or incidents of an account changed, counted for the open pages of other nodes.
CREATE TABLE page_change (
    account_id BIGINT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    changes BIGINT NOT NULL
);

-- Derived from the key: two keys with the same id differ in it. Empty: not known yet.
ALTER TABLE seal_key ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
