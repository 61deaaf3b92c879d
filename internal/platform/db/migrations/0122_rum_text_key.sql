-- +goose Up
-- By which an error of no known fingerprint continues an issue that has none, such as one of an account file: 32 hexadecimal
-- digits of its service, type and message; empty: the issue has a fingerprint; -: the start of the program computes it.
ALTER TABLE rum_issue ADD COLUMN text_key TEXT NOT NULL DEFAULT '';
UPDATE rum_issue SET text_key = '-' WHERE NOT EXISTS (SELECT 1 FROM rum_fingerprint f
    WHERE f.account_id = rum_issue.account_id AND f.issue_id = rum_issue.issue_id);
CREATE INDEX rum_issue_by_text ON rum_issue (account_id, application_id, text_key, issue_id) WHERE text_key <> '';
CREATE INDEX rum_issue_incomplete ON rum_issue (account_id, issue_id) WHERE text_key = '-';
DROP INDEX rum_issue_by_error;

-- The issues of an application within an hour are counted.
CREATE INDEX rum_issue_of_application ON rum_issue (account_id, application_id, created_at);
