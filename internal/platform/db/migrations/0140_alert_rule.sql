-- +goose Up
-- Folders of alert rules. The folder 1, "Rules", is in every account and has a row only when it was changed.
CREATE TABLE rule_folder (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    folder_id BIGINT NOT NULL,
    parent_id BIGINT NOT NULL,          -- 0: none
    folder_name TEXT NOT NULL,          -- unique in its parent
    note TEXT NOT NULL,
    team_id BIGINT NOT NULL,            -- 0: none
    created_at BIGINT NOT NULL,         -- Unix milliseconds
    created_by BIGINT NOT NULL,         -- a person; 0: none
    updated_at BIGINT NOT NULL,         -- Unix milliseconds
    updated_by BIGINT NOT NULL,
    PRIMARY KEY (account_id, folder_id)
);

CREATE TABLE alert_rule (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id BIGINT NOT NULL,            -- an unsigned 64-bit number, bit by bit
    folder_id BIGINT NOT NULL,
    rule_name TEXT NOT NULL,
    ds_type TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    interval_ms BIGINT NOT NULL,        -- the shortest time between two evaluations
    revision BIGINT NOT NULL,           -- the account's revision that changed it last
    created_at BIGINT NOT NULL,         -- Unix seconds
    creator_id BIGINT NOT NULL,         -- a person; 0: none
    updated_at BIGINT NOT NULL,         -- Unix seconds
    updater_id BIGINT NOT NULL,
    sources TEXT NOT NULL,              -- JSON: which datasources it is evaluated on
    head TEXT NOT NULL,                 -- JSON: further members that lists show
    body TEXT NOT NULL,                 -- JSON: the other members
    PRIMARY KEY (account_id, rule_id)
);
CREATE UNIQUE INDEX alert_rule_by_name ON alert_rule (account_id, folder_id, rule_name);
CREATE INDEX alert_rule_by_revision ON alert_rule (account_id, revision);

-- The last identifiers that were handed out. They outlive the rules, so that an identifier never names another one.
CREATE TABLE alert_rule_counter (
    account_id BIGINT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    last_rule BIGINT NOT NULL,
    last_change BIGINT NOT NULL
);

-- The rules that were deleted, for the processes that evaluate them.
CREATE TABLE alert_rule_deleted (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id BIGINT NOT NULL,
    revision BIGINT NOT NULL,           -- the account's revision that deleted it
    deleted_at BIGINT NOT NULL,         -- Unix seconds
    PRIMARY KEY (account_id, rule_id)
);
CREATE INDEX alert_rule_deleted_by_revision ON alert_rule_deleted (account_id, revision);
CREATE INDEX alert_rule_deleted_by_time ON alert_rule_deleted (account_id, deleted_at);

-- What rules were after each change.
CREATE TABLE alert_rule_change (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    change_id BIGINT NOT NULL,          -- in the order in which they were made
    rule_id BIGINT NOT NULL,
    action TEXT NOT NULL,               -- create, update, fields, move, import or delete
    body TEXT NOT NULL,                 -- JSON: the rule as the API shows it
    person_id BIGINT NOT NULL,          -- 0: none
    changed_at BIGINT NOT NULL,         -- Unix seconds
    PRIMARY KEY (account_id, change_id)
);
CREATE INDEX alert_rule_change_of_rule ON alert_rule_change (account_id, rule_id, change_id);
CREATE INDEX alert_rule_change_by_time ON alert_rule_change (account_id, changed_at);

-- How many rules there were at the end of a day. A day without a change has no row.
CREATE TABLE alert_rule_count (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    day BIGINT NOT NULL,                -- days since 1970-01-01 in UTC
    num BIGINT NOT NULL,
    PRIMARY KEY (account_id, day)
);
