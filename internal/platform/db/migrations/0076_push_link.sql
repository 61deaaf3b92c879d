-- +goose Up
-- When the single-use link of a notification over push was used, Unix milliseconds; 0: it was not.
ALTER TABLE notice ADD COLUMN link_used_at BIGINT NOT NULL DEFAULT 0;
