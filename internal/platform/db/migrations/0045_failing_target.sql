-- +goose Up
-- Targets whose last message failed: the row goes with the next message that is taken.
CREATE TABLE notice_failing (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    target TEXT NOT NULL,               -- the recipient, or the lane of a program
    since BIGINT NOT NULL,              -- of the first failure, Unix milliseconds
    last_at BIGINT NOT NULL,            -- of the last one
    PRIMARY KEY (account_id, target)
);
CREATE INDEX notice_failing_age ON notice_failing (last_at);
