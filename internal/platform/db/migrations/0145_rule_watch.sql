-- +goose Up
-- What alert rules have found and is open: one row for each label set of a check.
CREATE TABLE rule_instance (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id BIGINT NOT NULL,
    datasource_id BIGINT NOT NULL,
    check_name TEXT NOT NULL,               -- threshold, anydata or nodata
    instance_key TEXT NOT NULL,             -- 16 hexadecimal digits, of the labels
    severity TEXT NOT NULL,
    since BIGINT NOT NULL,                  -- Unix milliseconds
    alert_key TEXT NOT NULL,
    channels TEXT NOT NULL,                 -- JSON list of the channels with the alert; empty: the integration's route decides
    epoch BIGINT NOT NULL,                  -- of the slot that stored it
    repeated_at BIGINT NOT NULL,            -- of the last event, Unix milliseconds
    body TEXT NOT NULL,                     -- JSON: query, labels, title, value
    close_at BIGINT NOT NULL DEFAULT 0,     -- Unix seconds at which it is to be closed; 0: it is open
    closing TEXT NOT NULL DEFAULT '',       -- JSON: why it is closed
    PRIMARY KEY (account_id, rule_id, datasource_id, check_name, instance_key)
);

CREATE INDEX rule_instance_close ON rule_instance (account_id, close_at) WHERE close_at > 0;

-- The watches that are not known: a rule on a datasource without an answer. rule_id 0: the datasource itself gives none.
CREATE TABLE rule_watch (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id BIGINT NOT NULL,
    datasource_id BIGINT NOT NULL,
    since BIGINT NOT NULL,                  -- Unix milliseconds
    body TEXT NOT NULL,                     -- JSON: kind, message
    PRIMARY KEY (account_id, rule_id, datasource_id)
);

-- What became of instances: they began, changed their severity, were repeated or ended.
CREATE TABLE rule_transition (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    transition_id TEXT NOT NULL,            -- 24 hexadecimal digits, in the order of time
    rule_id BIGINT NOT NULL,
    datasource_id BIGINT NOT NULL,
    check_name TEXT NOT NULL,
    instance_key TEXT NOT NULL,
    at BIGINT NOT NULL,                     -- Unix milliseconds
    change TEXT NOT NULL,                   -- begin, rise, fall, recovered, gone or closed
    from_severity TEXT NOT NULL,
    severity TEXT NOT NULL,
    event_id TEXT NOT NULL,                 -- its event in the first channel; empty: it has none
    body TEXT NOT NULL,                     -- JSON: labels, reasons, queries with their time and rows, clauses
    PRIMARY KEY (account_id, transition_id)
);

CREATE INDEX rule_transition_rule ON rule_transition (account_id, rule_id, transition_id);

-- The counters of watches: what is pending, open, or was seen before. It is stored with each transition, so that a process
-- that takes over a watch goes on where the last one stopped.
CREATE TABLE watch_state (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id BIGINT NOT NULL,
    datasource_id BIGINT NOT NULL,
    saved_at BIGINT NOT NULL,               -- Unix milliseconds
    state TEXT NOT NULL,
    PRIMARY KEY (account_id, rule_id, datasource_id)
);

-- Which process evaluates which watches: a watch belongs to one of 256 slots.
CREATE TABLE node_slot (
    slot BIGINT PRIMARY KEY,
    node_id TEXT NOT NULL,
    epoch BIGINT NOT NULL,                  -- how often the slot has changed hands
    moving_to TEXT NOT NULL,                -- the process that it is handed over to; empty: none
    since BIGINT NOT NULL                   -- Unix milliseconds of the last change
);
