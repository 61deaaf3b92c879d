-- +goose Up
-- The keys by which the errors of an application find their issue.
CREATE TABLE rum_fingerprint (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    application_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,          -- 32 hexadecimal digits
    algorithm TEXT NOT NULL,            -- how it was computed: d1 by type, message and frame; c1 from what the sender chose
    issue_id TEXT NOT NULL,
    PRIMARY KEY (account_id, application_id, fingerprint)
);
CREATE INDEX rum_fingerprint_by_issue ON rum_fingerprint (account_id, issue_id);

-- The newest errors of each issue.
CREATE TABLE rum_sample (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    issue_id TEXT NOT NULL,
    number BIGINT NOT NULL,             -- in the order of arrival: how many errors the issue had with it
    received_at BIGINT NOT NULL,        -- Unix milliseconds, as every *_at here
    body TEXT NOT NULL,                 -- JSON
    PRIMARY KEY (account_id, issue_id, number)
);
CREATE INDEX rum_sample_by_time ON rum_sample (account_id, received_at);

-- Sessions that were counted for an issue, until they cannot come again.
CREATE TABLE rum_session (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    issue_id TEXT NOT NULL,
    session_hash TEXT NOT NULL,         -- 16 hexadecimal digits
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, issue_id, session_hash)
);
CREATE INDEX rum_session_by_time ON rum_session (account_id, seen_at);

-- The versions of each service in the order in which they were seen: names of versions do not sort.
CREATE TABLE rum_version (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    application_id TEXT NOT NULL,
    service TEXT NOT NULL,
    version TEXT NOT NULL,
    first_seen_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, application_id, service, version)
);
CREATE INDEX rum_version_by_time ON rum_version (account_id, last_seen_at);

CREATE INDEX rum_issue_by_error ON rum_issue (account_id, application_id, error_type, issue_id);
CREATE INDEX rum_issue_by_seen ON rum_issue (account_id, last_seen_at);
CREATE INDEX rum_issue_open ON rum_issue (account_id, issue_id) WHERE status IN ('for_review', 'reviewed');
