-- +goose Up
-- Who set a person's e-mail address: 0 for an account file, the operator or a provider. Of rows stored before it is not known:
-- a profile that was changed since the person was created counts as changed by the person.
ALTER TABLE person ADD COLUMN email_set_by BIGINT NOT NULL DEFAULT 0;
UPDATE person SET email_set_by = person_id WHERE NOT email_verified AND updated_at > created_at AND status <> 'pending';

-- Who made a link (0: the server or its operator), where it was mailed to, and what its person could do then. It is not known
-- of links that set a password and exist already, so these end.
DELETE FROM sign_in_link WHERE kind = 'password';
ALTER TABLE sign_in_link ADD COLUMN maker_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sign_in_link ADD COLUMN mailed_to TEXT NOT NULL DEFAULT '';   -- empty: the link was handed over
ALTER TABLE sign_in_link ADD COLUMN permissions BIGINT NOT NULL DEFAULT 0; -- of the person when it was made, one bit for each
ALTER TABLE sign_in_link ADD COLUMN teams TEXT NOT NULL DEFAULT '';        -- likewise, identifiers with commas between them

ALTER TABLE invitation ADD COLUMN maker_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE invitation ADD COLUMN kind TEXT NOT NULL DEFAULT 'password';   -- of the link in the mail

-- States of sign-ins at an OpenID Connect provider that were used, until they would have ended by themselves.
CREATE TABLE sign_in_state (
    state_hash TEXT PRIMARY KEY,        -- hexadecimal SHA-256
    ends_at BIGINT NOT NULL             -- Unix seconds
);
CREATE INDEX sign_in_state_end ON sign_in_state (ends_at);
