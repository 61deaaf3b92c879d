-- +goose Up
-- When the account's fallback is notified of an incident whose escalation has ended and that no person has acknowledged,
-- Unix seconds; 0: it is not, or has been.
ALTER TABLE follow_up ADD COLUMN fallback_at BIGINT NOT NULL DEFAULT 0;
