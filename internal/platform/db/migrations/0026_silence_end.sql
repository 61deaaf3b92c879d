-- +goose Up
-- When whoever made a one-time silence is told that it ends: a row for each that has not ended.
CREATE TABLE silence_end (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id TEXT NOT NULL,
    end_at BIGINT NOT NULL,             -- the end of its window, Unix seconds
    due_at BIGINT NOT NULL,             -- when to look whether it holds anything back, Unix seconds; 0: it was told
    PRIMARY KEY (account_id, rule_id)
);
CREATE INDEX silence_end_due ON silence_end (due_at) WHERE due_at > 0;
-- The revision for which the rows were made: they are made anew when the account's is another.
ALTER TABLE account ADD COLUMN revision_silence BIGINT NOT NULL DEFAULT -1;
