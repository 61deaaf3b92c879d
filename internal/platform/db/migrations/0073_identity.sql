-- +goose Up
-- Who a person is at an OpenID Connect provider.
CREATE TABLE identity (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    issuer TEXT NOT NULL,               -- URL of the provider
    subject TEXT NOT NULL,              -- the person's identifier there, which never changes
    person_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,         -- Unix seconds
    PRIMARY KEY (account_id, issuer, subject)
);
CREATE INDEX identity_of_person ON identity (account_id, person_id);
