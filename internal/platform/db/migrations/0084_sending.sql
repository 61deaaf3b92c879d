-- +goose Up
-- Attempts in progress are counted in each claim, those of all processes on the database.
CREATE INDEX notice_sending ON notice (lane, account_id, due_at, bundle, notice_id) WHERE status = 'sending';
CREATE INDEX webhook_message_sending ON webhook_message (account_id, integration_id, due_at) WHERE status = 'sending';
