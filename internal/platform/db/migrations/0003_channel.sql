-- +goose Up
CREATE TABLE channel (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    channel_id BIGINT NOT NULL,
    channel_name TEXT NOT NULL,
    team_id BIGINT NOT NULL,            -- owning team; 0: none
    status TEXT NOT NULL,               -- enabled or disabled
    description TEXT NOT NULL,
    is_private BOOLEAN NOT NULL,        -- only the owning team and the account's owner may read it
    created_at BIGINT NOT NULL,         -- Unix seconds, as every *_at here; 0: not known
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, channel_id)
);

CREATE TABLE silence_rule (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id TEXT NOT NULL,
    channel_id BIGINT NOT NULL,
    priority BIGINT NOT NULL,           -- lower is evaluated first
    rule_name TEXT NOT NULL,
    description TEXT NOT NULL,
    from_incident_id TEXT NOT NULL,     -- 24 zeros: not made from an incident
    time_filters TEXT NOT NULL,         -- JSON array of recurring windows; [] on a one-off rule
    start_time BIGINT NOT NULL,         -- Unix seconds of the one-off window; 0 on a recurring rule
    end_time BIGINT NOT NULL,           -- Unix seconds, the first second after it; 0 on a recurring rule
    filters TEXT NOT NULL,              -- JSON array of arrays of conditions
    is_directly_discard BOOLEAN NOT NULL,
    is_auto_delete BOOLEAN NOT NULL,
    status TEXT NOT NULL,               -- enabled, disabled or deleted
    updated_by BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,         -- 0: not deleted
    PRIMARY KEY (account_id, rule_id),
    FOREIGN KEY (account_id, channel_id) REFERENCES channel ON DELETE CASCADE
);
CREATE INDEX silence_rule_of_channel ON silence_rule (account_id, channel_id, priority, created_at, rule_id);

CREATE TABLE drop_rule (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id TEXT NOT NULL,
    channel_id BIGINT NOT NULL,
    priority BIGINT NOT NULL,           -- lower is evaluated first
    rule_name TEXT NOT NULL,
    description TEXT NOT NULL,
    filters TEXT NOT NULL,              -- JSON array of arrays of conditions
    status TEXT NOT NULL,               -- enabled, disabled or deleted
    updated_by BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,         -- 0: not deleted
    PRIMARY KEY (account_id, rule_id),
    FOREIGN KEY (account_id, channel_id) REFERENCES channel ON DELETE CASCADE
);
CREATE INDEX drop_rule_of_channel ON drop_rule (account_id, channel_id, priority, created_at, rule_id);
