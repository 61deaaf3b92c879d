-- +goose Up
-- The sealing keys that stored secrets may be under, so that a start with the wrong key file is noticed. Empty: not
-- known yet, the stored secrets themselves say.
CREATE TABLE seal_key (
    key_id TEXT PRIMARY KEY,
    lost BOOLEAN NOT NULL -- --new-seal-key has accepted that it is gone
);
