-- +goose Up
-- How often each issue occurred on each day.
CREATE TABLE rum_day (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    issue_id TEXT NOT NULL,
    day TEXT NOT NULL,                  -- 2026-03-25, in the time zone that the account had then
    error_count BIGINT NOT NULL,
    session_count BIGINT NOT NULL,      -- sessions whose first error of the issue was on this day
    users TEXT NOT NULL,                -- sketch of the users (internal/core/distinct)
    PRIMARY KEY (account_id, issue_id, day)
);
CREATE INDEX rum_day_by_day ON rum_day (account_id, day);
