-- +goose Up
-- Which address the issues of a group come from, as a number that hides it; 0: it is not known, or issues of any address join.
ALTER TABLE rum_alert_group ADD COLUMN sender BIGINT NOT NULL DEFAULT 0;
