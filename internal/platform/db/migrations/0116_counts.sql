-- +goose Up
-- Of the escalations that are due, those of Critical incidents come first.
CREATE INDEX escalation_due_first ON escalation (account_id, next_at) WHERE next_at > 0 AND severity = 'Critical';
-- The request whose events opened the incident while others of them were still to be decided; 0: none, or all are decided.
ALTER TABLE escalation ADD COLUMN request BIGINT NOT NULL DEFAULT 0;
CREATE INDEX escalation_gathering ON escalation (account_id, request) WHERE request <> 0;

-- Whether an incident is a test, which metrics do not count: what counts the open ones reads the index alone.
ALTER TABLE incident ADD COLUMN is_test BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE incident SET is_test = TRUE WHERE progress <> 'Closed' AND body LIKE '%"is_test":true%';
DROP INDEX IF EXISTS incident_open;
CREATE INDEX incident_open ON incident (channel_id, severity, progress, start_time) WHERE progress <> 'Closed' AND NOT is_test;
