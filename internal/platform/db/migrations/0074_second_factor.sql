-- +goose Up
-- Time-based one-time passwords (RFC 6238) and what stands in for a lost device. All times are Unix seconds.
CREATE TABLE second_factor (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    secret TEXT NOT NULL,               -- sealed
    confirmed_at BIGINT NOT NULL,       -- 0: set up, but no code was entered so far, so none is asked for
    last_step BIGINT NOT NULL,          -- of the last code that was accepted; no code is accepted twice
    PRIMARY KEY (account_id, person_id)
);
CREATE TABLE recovery_code (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    code_hash TEXT NOT NULL,            -- hexadecimal SHA-256
    PRIMARY KEY (account_id, person_id, code_hash)
);
