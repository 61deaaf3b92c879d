-- +goose Up
-- What was sent in a period, for reports.
CREATE INDEX notice_sent ON notice (account_id, settled_at, notice_id) WHERE status = 'sent';
