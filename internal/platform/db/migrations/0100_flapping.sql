-- +goose Up
-- An alert that changes too often is not muted any more: it keeps its incident until it has been quiet. From now on
-- flapping_until is when it has been quiet for long enough, Unix seconds; 0: it does not change too often.
ALTER TABLE alert ADD COLUMN flapping_notified BIGINT NOT NULL DEFAULT 0; -- what persons were notified of since it changes too often; 0: nothing, 1: an earlier beginning, 2: the present one
UPDATE alert SET flapping_until = 0 WHERE flapping_until > 0;
UPDATE alert SET muted_until = 1 WHERE muted = 'flapping' AND end_time = 0; -- decided again soon
CREATE INDEX alert_flapping ON alert (account_id, incident_id) WHERE flapping_until > 0;
