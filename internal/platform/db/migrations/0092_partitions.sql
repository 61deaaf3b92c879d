-- +goose Up
-- When the attempt was made, as event_time of its delivery: on PostgreSQL both are kept in parts by time, see
-- docs/decisions/0029-partitions.md. 0: not known.
ALTER TABLE webhook_exchange ADD COLUMN event_time BIGINT NOT NULL DEFAULT 0;
