-- +goose Up
-- When people are next to be told of turns on call: a row for each schedule that wants it, and each kind.
CREATE TABLE handover (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    schedule_id BIGINT NOT NULL,
    kind TEXT NOT NULL,                 -- advance: of each change; daily: at a time of day
    done_at BIGINT NOT NULL,            -- moments up to this one are answered for, Unix seconds
    due_at BIGINT NOT NULL,             -- when to look again, Unix seconds; 0: not before the schedule is changed
    PRIMARY KEY (account_id, schedule_id, kind)
);
CREATE INDEX handover_due ON handover (due_at) WHERE due_at > 0;
-- The revision for which the rows were made: they are made anew when the account's is another.
ALTER TABLE account ADD COLUMN revision_handover BIGINT NOT NULL DEFAULT -1;
