-- +goose Up
-- The highest severity that an escalation was chosen for and has notified: a higher one of its incident is news.
ALTER TABLE escalation ADD COLUMN severity TEXT NOT NULL DEFAULT '';
UPDATE escalation SET severity = coalesce((SELECT i.severity FROM incident i
    WHERE i.account_id = escalation.account_id AND i.incident_id = escalation.incident_id), '');

-- What the responders of an open incident are still to be notified of when no step of an escalation is left for it: a
-- severity that rose, alerts that joined, and reminders. All times are Unix seconds.
CREATE TABLE follow_up (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    incident_id TEXT NOT NULL,
    next_at BIGINT NOT NULL,            -- when to check again; 0: not before the incident changes
    severity TEXT NOT NULL,             -- the highest that the responders know of
    since BIGINT NOT NULL,              -- when it was acknowledged or assigned, or its escalation ended; 0: before this table was
    reminded_at BIGINT NOT NULL,        -- when the last reminder was sent; since, if none was
    joined_at BIGINT NOT NULL,          -- when alerts that joined are notified; 0: none joined
    alerts BIGINT NOT NULL,             -- of the incident at the last message
    failed_at BIGINT NOT NULL,          -- since when it fails and is retried; 0: it does not
    PRIMARY KEY (account_id, incident_id),
    FOREIGN KEY (account_id, incident_id) REFERENCES incident ON DELETE CASCADE
);
CREATE INDEX follow_up_due ON follow_up (account_id, next_at) WHERE next_at > 0;
INSERT INTO follow_up SELECT account_id, incident_id, 1, severity, 0, 0, 0, alert_cnt, 0 FROM incident i
    WHERE progress = 'Processing' OR progress = 'Triggered'
        AND EXISTS (SELECT 1 FROM escalation e WHERE e.account_id = i.account_id AND e.incident_id = i.incident_id AND e.ended = 'exhausted')
        AND NOT EXISTS (SELECT 1 FROM escalation e WHERE e.account_id = i.account_id AND e.incident_id = i.incident_id AND e.next_at > 0);
