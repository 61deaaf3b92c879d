-- +goose Up
-- The question that is open about an acknowledged incident: a reminder, or the message about the end of a snooze.
ALTER TABLE follow_up ADD COLUMN question TEXT NOT NULL DEFAULT '';    -- reminder or snooze; empty: none
ALTER TABLE follow_up ADD COLUMN asked_at BIGINT NOT NULL DEFAULT 0;   -- when it was asked; 0: it is still to be asked
ALTER TABLE follow_up ADD COLUMN again_at BIGINT NOT NULL DEFAULT 0;   -- no reminder before, as a person asked for; -1: none at all
-- The reminders of acknowledged incidents have other defaults now, counted from the first check after this.
UPDATE follow_up SET next_at = 1, since = 0 WHERE joined_at = 0 AND EXISTS (SELECT 1 FROM incident i
    WHERE i.account_id = follow_up.account_id AND i.incident_id = follow_up.incident_id AND i.progress = 'Processing');
