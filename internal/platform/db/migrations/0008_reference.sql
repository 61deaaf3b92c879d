-- +goose Up
CREATE TABLE reference (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    to_kind TEXT NOT NULL,
    to_id TEXT NOT NULL,                -- numbers in decimal
    from_kind TEXT NOT NULL,
    from_id TEXT NOT NULL,
    from_name TEXT NOT NULL,            -- what people call the object that refers
    PRIMARY KEY (account_id, to_kind, to_id, from_kind, from_id)
);
CREATE INDEX reference_from ON reference (account_id, from_kind, from_id);

CREATE TABLE audit_touched (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,         -- Unix milliseconds, as in audit_log
    audit_id TEXT NOT NULL,
    object_name TEXT NOT NULL,          -- as it was then
    PRIMARY KEY (account_id, kind, object_id, created_at, audit_id),
    FOREIGN KEY (account_id, audit_id) REFERENCES audit_log ON DELETE CASCADE
);
CREATE INDEX audit_touched_of ON audit_touched (account_id, audit_id);
