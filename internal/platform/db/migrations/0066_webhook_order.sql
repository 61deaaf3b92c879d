-- +goose Up
-- The messages of one object are delivered one after the other: the next one is found without reading those of others.
CREATE INDEX webhook_message_object ON webhook_message (account_id, integration_id, ref_id, number) WHERE settled_at = 0;

-- Endpoints that fail for long, or that are gone for good, are reported.
ALTER TABLE webhook_endpoint ADD COLUMN failing_since BIGINT NOT NULL DEFAULT 0; -- the first failed attempt after the last success, Unix milliseconds; 0: the last one succeeded
ALTER TABLE webhook_endpoint ADD COLUMN reported TEXT NOT NULL DEFAULT '';       -- failing or gone: the alert that is open about it; empty: none
