-- +goose Up
-- The migrations of some builds lacked indexes that were added to their files later.
CREATE INDEX IF NOT EXISTS notice_tried ON notice (account_id, recipient, lane, bundle, urgency, created_at, notice_id) WHERE settled_at = 0 AND attempts > 0;
CREATE INDEX IF NOT EXISTS channel_by_name ON channel (account_id, name_folded, channel_id);
CREATE INDEX IF NOT EXISTS channel_by_update ON channel (account_id, updated_at, channel_id);
DROP INDEX IF EXISTS rum_issue_incomplete;
UPDATE rum_issue SET text_key = '-' WHERE text_key = '?';
CREATE INDEX rum_issue_incomplete ON rum_issue (account_id, issue_id) WHERE text_key = '-';
