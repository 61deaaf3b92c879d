-- +goose Up
-- Sign-ins of persons to the console. All times are Unix seconds.
CREATE TABLE session (
    secret_hash TEXT PRIMARY KEY,       -- hexadecimal SHA-256 of the cookie's secret
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    session_id TEXT NOT NULL,           -- public: for the list of sessions and to end one
    person_id BIGINT NOT NULL,
    way TEXT NOT NULL,                  -- how the person signed in: app_key, password, oidc or link
    key_id BIGINT NOT NULL,             -- of way app_key, the key, whose end is the session's; else 0
    created_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,            -- to the minute
    ends_at BIGINT NOT NULL,            -- whatever happens
    ip TEXT NOT NULL,
    agent TEXT NOT NULL                 -- the browser, as it names itself; at most 200 characters
);
CREATE UNIQUE INDEX session_by_id ON session (account_id, session_id);
CREATE INDEX session_of_person ON session (account_id, person_id);
CREATE INDEX session_end ON session (ends_at);
