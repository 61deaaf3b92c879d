-- +goose Up
ALTER TABLE rum_application ADD COLUMN allowed_origins TEXT NOT NULL DEFAULT '';     -- of the pages that may send, separated by spaces; empty: any
ALTER TABLE rum_application ADD COLUMN old_token_hash TEXT NOT NULL DEFAULT '';      -- SHA-256 of the token before, hex; empty: none
ALTER TABLE rum_application ADD COLUMN old_token_until BIGINT NOT NULL DEFAULT 0;    -- until when it works, Unix milliseconds
CREATE INDEX rum_application_by_old_token ON rum_application (old_token_hash) WHERE old_token_hash <> '';
