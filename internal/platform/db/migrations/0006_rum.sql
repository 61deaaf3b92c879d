-- +goose Up
CREATE TABLE rum_application (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    application_id TEXT NOT NULL,
    application_name TEXT NOT NULL,
    type TEXT NOT NULL,
    client_token TEXT NOT NULL,         -- sealed
    team_id BIGINT NOT NULL,
    is_private BOOLEAN NOT NULL,
    no_ip BOOLEAN NOT NULL,
    no_geo BOOLEAN NOT NULL,
    alerting_enabled BOOLEAN NOT NULL,
    alerting_channel_ids TEXT NOT NULL, -- JSON array
    alerting_integration_id BIGINT NOT NULL,
    tracing_enabled BOOLEAN NOT NULL,
    tracing_open_type TEXT NOT NULL,    -- popup, tab or empty
    tracing_endpoint TEXT NOT NULL,
    status TEXT NOT NULL,               -- enabled, disabled or deleted
    created_by BIGINT NOT NULL,
    updated_by BIGINT NOT NULL,
    created_at BIGINT NOT NULL,         -- Unix milliseconds, as every time of RUM
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, application_id)
);

CREATE TABLE rum_issue (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    issue_id TEXT NOT NULL,
    application_id TEXT NOT NULL,
    application_name TEXT NOT NULL,     -- as it was when the issue was last written, like team_id
    team_id BIGINT NOT NULL,
    service TEXT NOT NULL,
    status TEXT NOT NULL,               -- for_review, reviewed, ignored or resolved
    severity TEXT NOT NULL,
    is_crash BOOLEAN NOT NULL,
    error_count BIGINT NOT NULL,
    session_count BIGINT NOT NULL,
    age BIGINT NOT NULL,                -- seconds from first to last seen
    first_seen_at BIGINT NOT NULL,      -- Unix milliseconds, as every *_at here
    first_seen_version TEXT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    last_seen_version TEXT NOT NULL,
    error_message TEXT NOT NULL,
    error_type TEXT NOT NULL,
    cause_source TEXT NOT NULL,         -- auto, user or empty
    cause_value TEXT NOT NULL,
    cause_reason TEXT NOT NULL,
    cause_person_id BIGINT NOT NULL,    -- 0: not named by a person
    versions TEXT NOT NULL,             -- JSON array of strings
    regression TEXT,                    -- JSON object; NULL: never came back after it was resolved
    resolved_at BIGINT NOT NULL,        -- 0: not resolved
    resolved_by BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, issue_id)
);
