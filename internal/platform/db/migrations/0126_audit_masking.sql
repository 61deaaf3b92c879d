-- +goose Up
-- The accounts whose audit log may hold secrets in clear, which an earlier version did not recognise by the names of their
-- members. They are hidden in pieces while the server runs.
CREATE TABLE audit_masking (
    account_id BIGINT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    done_id TEXT NOT NULL,              -- entries up to this one are done
    ends_at BIGINT NOT NULL             -- when the account is done, Unix seconds, because nodes of the earlier version may run until then; 0: not set yet
);
INSERT INTO audit_masking (account_id, done_id, ends_at) SELECT account_id, '', 0 FROM account;
