-- +goose Up
-- Schedules that are there already refer to their team and to the people in their layers.
INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name)
SELECT account_id, 'team', CAST(team_id AS TEXT), 'schedule', CAST(schedule_id AS TEXT), schedule_name
FROM schedule WHERE team_id <> 0;

INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name)
SELECT DISTINCT s.account_id, 'person', CAST(p.value AS TEXT), 'schedule', CAST(s.schedule_id AS TEXT), s.schedule_name
FROM schedule s, json_each(s.layers) l, json_each(l.value, '$.groups') g, json_each(g.value, '$.members') m, json_each(m.value, '$.person_ids') p;

-- Both columns are empty until the program fills them in when it starts: SQL cannot open what is sealed.
ALTER TABLE rum_application ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';  -- application_name for searching
ALTER TABLE rum_application ADD COLUMN token_hash TEXT NOT NULL DEFAULT '';   -- SHA-256 of the client token, hex; empty without a token
CREATE INDEX rum_application_by_token ON rum_application (token_hash);

INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name)
SELECT account_id, 'team', CAST(team_id AS TEXT), 'rum_application', application_id, application_name
FROM rum_application WHERE team_id <> 0 AND status <> 'deleted';

INSERT INTO reference (account_id, to_kind, to_id, from_kind, from_id, from_name)
SELECT DISTINCT a.account_id, 'channel', CAST(c.value AS TEXT), 'rum_application', a.application_id, a.application_name
FROM rum_application a, json_each(a.alerting_channel_ids) c WHERE c.value <> 0 AND a.status <> 'deleted';

CREATE INDEX rum_issue_by_creation ON rum_issue (account_id, created_at, issue_id);
