-- +goose Up
-- What persons sign in to the console with. All times are Unix seconds.
CREATE TABLE password (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    hash TEXT NOT NULL,                 -- Argon2id with its parameters and salt, as $argon2id$v=19$m=...
    set_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, person_id)
);
CREATE TABLE sign_in_link (
    token_hash TEXT PRIMARY KEY,        -- hexadecimal SHA-256 of the token in the link
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    kind TEXT NOT NULL,                 -- password: sets a password, once; open: opens the console until it ends
    created_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL
);
CREATE INDEX sign_in_link_of_person ON sign_in_link (account_id, person_id);
CREATE INDEX sign_in_link_end ON sign_in_link (ends_at);
CREATE TABLE invitation (               -- mails to invited persons that have not been sent; each attempt makes a link of its own
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    next_at BIGINT NOT NULL,            -- of the next attempt
    attempt BIGINT NOT NULL,            -- how many were made
    PRIMARY KEY (account_id, person_id)
);
CREATE INDEX invitation_due ON invitation (next_at);
