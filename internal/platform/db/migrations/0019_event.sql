-- +goose Up
-- Counts the changes of an account's configuration, so that what was made ready from it is made anew.
ALTER TABLE account ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
-- The revision for which muted alerts were looked at again.
ALTER TABLE account ADD COLUMN revision_applied BIGINT NOT NULL DEFAULT 0;

CREATE TABLE event (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    event_id TEXT NOT NULL,             -- 24 hexadecimal digits
    received_at BIGINT NOT NULL,        -- Unix nanoseconds, no two alike; events are decided in this order
    integration_id BIGINT NOT NULL,
    decided_at BIGINT NOT NULL,         -- Unix nanoseconds; 0: waits for its verdict
    attempts BIGINT NOT NULL,           -- how often deciding it has failed
    body TEXT NOT NULL,                 -- JSON: the event in the form that all sources are brought to
    PRIMARY KEY (account_id, event_id)
);
CREATE INDEX event_pending ON event (received_at) WHERE decided_at = 0;

-- What became of an event in each channel it was routed to, and why. One that came to none has one row with
-- channel 0. Every event that is decided has at least one; one whose alert was decided again later has more.
CREATE TABLE verdict (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    verdict_id BIGINT NOT NULL,         -- in the order in which they were made
    decided_at BIGINT NOT NULL,         -- Unix milliseconds
    event_id TEXT NOT NULL,             -- empty: the alert was decided again
    channel_id BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    alert_id TEXT NOT NULL,             -- empty: no alert was touched
    incident_id TEXT NOT NULL,          -- empty: none
    integration_id BIGINT NOT NULL,
    event_time BIGINT NOT NULL,         -- Unix seconds
    severity TEXT NOT NULL,             -- of the event
    body TEXT NOT NULL,                 -- JSON: the event as enrichment and pipeline left it
    trace TEXT NOT NULL,                -- JSON: the steps, with their reasons
    PRIMARY KEY (account_id, verdict_id)
);
CREATE INDEX verdict_of_event ON verdict (account_id, event_id);
CREATE INDEX verdict_of_alert ON verdict (account_id, alert_id, verdict_id);
CREATE INDEX verdict_by_time ON verdict (account_id, event_time, verdict_id);

ALTER TABLE alert ADD COLUMN muted TEXT NOT NULL DEFAULT '';            -- silenced, inhibited or flapping: nobody is told just now
ALTER TABLE alert ADD COLUMN muted_by TEXT NOT NULL DEFAULT '';         -- the rule, or the alert that inhibits it
ALTER TABLE alert ADD COLUMN muted_until BIGINT NOT NULL DEFAULT 0;     -- Unix seconds; when to decide again; 0: not muted
ALTER TABLE alert ADD COLUMN changes TEXT NOT NULL DEFAULT '[]';        -- JSON array of the latest moments at which it became active or over
CREATE INDEX alert_by_key ON alert (account_id, channel_id, alert_key, start_time);
CREATE INDEX alert_active ON alert (account_id, channel_id, last_time) WHERE end_time = 0;
CREATE INDEX alert_muted ON alert (muted_until) WHERE end_time = 0 AND muted_until > 0;
CREATE INDEX alert_of_incident ON alert (account_id, incident_id) WHERE incident_id <> '';
CREATE INDEX alert_by_time ON alert (account_id, start_time, alert_id);

ALTER TABLE incident ADD COLUMN severity TEXT NOT NULL DEFAULT 'Info';  -- Critical, Warning or Info
ALTER TABLE incident ADD COLUMN start_time BIGINT NOT NULL DEFAULT 0;   -- Unix seconds, as every time here
ALTER TABLE incident ADD COLUMN last_time BIGINT NOT NULL DEFAULT 0;    -- when its latest alert joined
ALTER TABLE incident ADD COLUMN snoozed_before BIGINT NOT NULL DEFAULT 0;
ALTER TABLE incident ADD COLUMN resolve_at BIGINT NOT NULL DEFAULT 0;   -- when it is resolved by itself; 0: never
ALTER TABLE incident ADD COLUMN creator_id BIGINT NOT NULL DEFAULT 0;   -- 0: Tocsin itself
ALTER TABLE incident ADD COLUMN closer_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE incident ADD COLUMN ever_muted BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE incident ADD COLUMN group_key TEXT NOT NULL DEFAULT '';     -- what its alerts have in common; empty: no alert joins it by itself
ALTER TABLE incident ADD COLUMN alert_cnt BIGINT NOT NULL DEFAULT 0;
ALTER TABLE incident ADD COLUMN body TEXT NOT NULL DEFAULT '{}';        -- JSON: the rest
CREATE INDEX incident_by_time ON incident (account_id, start_time, incident_id);
CREATE INDEX incident_by_group ON incident (account_id, channel_id, group_key, start_time) WHERE group_key <> '' AND progress <> 'Closed';
CREATE INDEX incident_to_resolve ON incident (resolve_at) WHERE progress <> 'Closed' AND resolve_at > 0;
CREATE INDEX incident_snoozed ON incident (snoozed_before) WHERE progress <> 'Closed' AND snoozed_before > 0;
ALTER TABLE incident_assignment ADD COLUMN acknowledged_at BIGINT NOT NULL DEFAULT 0; -- Unix seconds; 0: not acknowledged
CREATE INDEX assignment_of_person ON incident_assignment (account_id, person_id, removed_at);

-- What happened to an alert or an incident, in order.
CREATE TABLE feed (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    ref_id TEXT NOT NULL,               -- of the alert or incident
    feed_id BIGINT NOT NULL,            -- 1, 2, 3 in the order in which it happened
    created_at BIGINT NOT NULL,         -- Unix milliseconds
    type TEXT NOT NULL,                 -- such as a_new or i_ack
    person_id BIGINT NOT NULL,          -- who did it; 0: Tocsin itself
    detail TEXT NOT NULL,               -- JSON object
    PRIMARY KEY (account_id, ref_id, feed_id)
);
