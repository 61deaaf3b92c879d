-- +goose Up
-- The verdicts of an event in their order: without the last column the engine prefers the primary key, and reads
-- every verdict of the account.
DROP INDEX verdict_of_event;
CREATE INDEX verdict_of_event ON verdict (account_id, event_id, verdict_id);
-- What is pruned earlier than the rest.
CREATE INDEX verdict_dropped ON verdict (decided_at) WHERE outcome IN ('dropped', 'discarded', 'unrouted', 'unmatched', 'repeated');
CREATE INDEX alert_by_update ON alert (account_id, updated_at, alert_id);
-- For pruning, and for counting those that failed lately.
CREATE INDEX notice_settled ON notice (settled_at, status) WHERE settled_at > 0;
