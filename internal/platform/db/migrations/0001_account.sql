-- +goose Up
CREATE TABLE account (
    account_id BIGINT PRIMARY KEY,
    account_name TEXT NOT NULL,
    time_zone TEXT NOT NULL,            -- IANA name; every wall-clock rule of the account reads it
    owner_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL          -- Unix seconds, as every *_at here
);

CREATE TABLE person (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    person_name TEXT NOT NULL,
    avatar TEXT NOT NULL,
    locale TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    email TEXT NOT NULL,
    phone TEXT NOT NULL,
    phone_verified BOOLEAN NOT NULL,
    email_verified BOOLEAN NOT NULL,
    "as" TEXT NOT NULL,
    status TEXT NOT NULL,
    PRIMARY KEY (account_id, person_id)
);

CREATE TABLE role (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    role_id BIGINT NOT NULL,
    role_name TEXT NOT NULL,
    permissions TEXT NOT NULL,          -- JSON array of permission names
    PRIMARY KEY (account_id, role_id)
);

CREATE TABLE person_role (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    role_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, person_id, role_id)
);

CREATE TABLE team (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    team_id BIGINT NOT NULL,
    team_name TEXT NOT NULL,
    PRIMARY KEY (account_id, team_id)
);

CREATE TABLE team_person (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    team_id BIGINT NOT NULL,
    person_id BIGINT NOT NULL,
    position BIGINT NOT NULL,           -- keeps the order in which members were given
    PRIMARY KEY (account_id, team_id, person_id)
);
CREATE INDEX team_of_person ON team_person (account_id, person_id);

CREATE TABLE app_key (
    key_hash TEXT PRIMARY KEY,          -- SHA-256 of the secret, hex; the secret itself is nowhere
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    key_id BIGINT NOT NULL,
    key_name TEXT NOT NULL,
    person_id BIGINT NOT NULL,
    permissions TEXT,                   -- JSON array narrowing the person's; NULL: all of them
    status TEXT NOT NULL,               -- enabled or disabled
    expires_at BIGINT NOT NULL,         -- 0: never
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,       -- 0: never; written in batches
    UNIQUE (account_id, key_id)
);

CREATE TABLE audit_log (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    audit_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,         -- Unix milliseconds
    person_id BIGINT NOT NULL,
    person_name TEXT NOT NULL,          -- as it was then
    request_id TEXT NOT NULL,
    ip TEXT NOT NULL,
    operation TEXT NOT NULL,
    outcome TEXT NOT NULL,              -- empty: done; else the error code it was refused with
    is_dangerous BOOLEAN NOT NULL,
    is_write BOOLEAN NOT NULL,
    body TEXT NOT NULL,                 -- redacted JSON; last, because it may be long
    PRIMARY KEY (account_id, audit_id)
);
-- In the order of the list, with all that it can be filtered by, so that counting does not touch the rows.
CREATE INDEX audit_by_time ON audit_log (account_id, created_at, audit_id, person_id, operation, is_dangerous, is_write);
CREATE INDEX audit_by_person ON audit_log (account_id, person_id, created_at, audit_id, operation, is_dangerous, is_write);
CREATE INDEX audit_by_operation ON audit_log (account_id, operation, created_at, audit_id, person_id, is_dangerous, is_write);
CREATE INDEX audit_by_request ON audit_log (account_id, request_id, created_at, audit_id);
