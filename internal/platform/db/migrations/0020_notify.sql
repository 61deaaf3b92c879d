-- +goose Up
-- What somebody is to be told, target by target: a row each, so that one that fails holds up no other.
CREATE TABLE notice (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    notice_id TEXT NOT NULL,            -- 24 hexadecimal digits
    notice_key TEXT NOT NULL,           -- what is told, to whom, how: the same is never told twice
    incident_id TEXT NOT NULL,          -- empty: it is about no incident
    schedule_id BIGINT NOT NULL,        -- of a notice about a shift; 0: it is none
    event TEXT NOT NULL,                -- what happened, such as i_new
    cause TEXT NOT NULL,                -- page, assign, recovery, owner, shift: what made it
    person_id BIGINT NOT NULL,          -- 0: a chat or an address of nobody known
    way TEXT NOT NULL,                  -- email, sms, voice, slack and so on
    lane TEXT NOT NULL,                 -- host or address that is asked to take it; only so many at once
    target TEXT NOT NULL,               -- JSON: the address; secrets in it are sealed
    reason TEXT NOT NULL,               -- why this one is told, in words
    detail TEXT NOT NULL,               -- JSON: layer, rule and the like
    status TEXT NOT NULL,               -- waiting, sending, sent, failed or cancelled
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,             -- Unix milliseconds; while sending: when it is taken for lost
    created_at BIGINT NOT NULL,         -- Unix milliseconds, as the next
    settled_at BIGINT NOT NULL,         -- when it was sent, failed for good or was cancelled; 0: not yet
    outcome TEXT NOT NULL,              -- what the service answered, why it failed, or why it was cancelled
    PRIMARY KEY (account_id, notice_id),
    UNIQUE (account_id, notice_key)
);
CREATE INDEX notice_due ON notice (due_at) WHERE settled_at = 0;
CREATE INDEX notice_of_incident ON notice (account_id, incident_id, created_at);

-- Who escalates what, and how far it has come.
CREATE TABLE escalation (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    incident_id TEXT NOT NULL,
    run BIGINT NOT NULL,                -- 1, 2, 3: an incident that is opened again is escalated anew
    rule_id TEXT NOT NULL,
    rule_name TEXT NOT NULL,
    rule TEXT NOT NULL,                 -- JSON: the rule as it was then, secrets sealed
    timing TEXT NOT NULL,               -- JSON: its times, as they became when a layer had nobody
    started_at BIGINT NOT NULL,         -- Unix seconds
    done BIGINT NOT NULL,               -- how many steps have been answered for
    next_at BIGINT NOT NULL,            -- when to look again, Unix seconds; 0: it has ended
    ended TEXT NOT NULL,                -- why: acknowledged, resolved, exhausted, replaced; empty: it goes on
    PRIMARY KEY (account_id, incident_id, run)
);
CREATE INDEX escalation_due ON escalation (next_at) WHERE next_at > 0;
