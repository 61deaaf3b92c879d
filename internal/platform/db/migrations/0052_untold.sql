-- +goose Up
-- Incidents, and events that no channel took, of which no person was notified by a rule. All times are Unix seconds.
CREATE TABLE untold (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    ref_id TEXT NOT NULL,               -- the incident; of events a digest of integration and alert key
    incident_id TEXT NOT NULL,          -- empty: events that no channel took
    channel_id BIGINT NOT NULL,         -- 0: none
    integration_id BIGINT NOT NULL,     -- of events
    event_id TEXT NOT NULL,             -- the last event
    title TEXT NOT NULL,
    severity TEXT NOT NULL,             -- the highest so far
    why TEXT NOT NULL,                  -- why no person was notified, in words
    by_choice TEXT NOT NULL,            -- why no person is to be notified, in words; empty: a person is
    state TEXT NOT NULL,                -- waiting, fallback, unreached or by_choice
    since BIGINT NOT NULL,
    last_at BIGINT NOT NULL,            -- when it happened last
    events BIGINT NOT NULL,             -- how many events there were
    next_at BIGINT NOT NULL,            -- when the fallback is notified, or the result is checked; 0: not again
    attempt BIGINT NOT NULL,            -- how many messages failed
    told_at BIGINT NOT NULL,            -- when the last message was stored; 0: none was
    told_key TEXT NOT NULL,             -- what the keys of that message's notifications begin with; empty: it has a result
    PRIMARY KEY (account_id, ref_id)
);
CREATE INDEX untold_due ON untold (account_id, next_at) WHERE next_at > 0;
CREATE INDEX untold_list ON untold (account_id, since, ref_id);
CREATE INDEX untold_state ON untold (state);
CREATE INDEX untold_event ON untold (account_id, next_at) WHERE incident_id = '';
CREATE INDEX untold_event_age ON untold (last_at) WHERE incident_id = '';
-- Alerts that are muted and in no incident.
CREATE INDEX alert_silent ON alert (account_id, start_time, alert_id) WHERE end_time = 0 AND muted <> '' AND incident_id = '' AND deleted_at = 0;
-- The last resort is the account's fallback, which is the owner until another is set.
UPDATE notice SET cause = 'fallback' WHERE cause = 'owner';
