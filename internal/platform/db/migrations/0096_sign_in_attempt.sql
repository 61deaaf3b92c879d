-- +goose Up
-- What was guessed at sign-in on all nodes in the last minute or two, where several serve one database. Rows are only added,
-- and deleted when no window has them any more.
CREATE TABLE sign_in_attempt (
    attempt_id INTEGER PRIMARY KEY,
    subject TEXT NOT NULL,              -- HMAC of what is counted: a network, a person, and so on
    counted BIGINT NOT NULL,            -- 1; or -1 for one that was refused
    attempted_at BIGINT NOT NULL        -- Unix nanoseconds
);
CREATE INDEX sign_in_attempt_subject ON sign_in_attempt (subject, attempted_at);
CREATE INDEX sign_in_attempt_time ON sign_in_attempt (attempted_at);
