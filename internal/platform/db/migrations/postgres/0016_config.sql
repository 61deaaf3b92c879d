-- +goose Up
-- As the file of the same name for all engines, without what converts rows: no database of this engine is that old.
-- Schedules that are there already refer to their team and to the people in their layers.
INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name)
SELECT account_id, 'team', CAST(team_id AS TEXT), 'schedule', CAST(schedule_id AS TEXT), schedule_name
FROM schedule WHERE team_id <> 0;


-- Both columns are empty until the program fills them in when it starts: SQL cannot open what is sealed.
ALTER TABLE rum_application ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';  -- application_name for searching
ALTER TABLE rum_application ADD COLUMN token_hash TEXT NOT NULL DEFAULT '';   -- SHA-256 of the client token, hex; empty without a token
CREATE INDEX rum_application_by_token ON rum_application (token_hash);

INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name)
SELECT account_id, 'team', CAST(team_id AS TEXT), 'rum_application', application_id, application_name
FROM rum_application WHERE team_id <> 0 AND status <> 'deleted';


CREATE INDEX rum_issue_by_creation ON rum_issue (account_id, created_at, issue_id);
