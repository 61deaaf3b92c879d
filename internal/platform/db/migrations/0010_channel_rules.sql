-- +goose Up
-- Rules of channels are kept as objects, as all other configuration is that is read as a whole.
INSERT INTO object (account_id, kind, id, parent, rank, name_folded, team_id, creator_id, created_at, updated_at, body)
SELECT account_id, 'silence_rule', rule_id, CAST(channel_id AS TEXT), priority, rule_name, 0, 0, created_at, updated_at, json_object(
    'account_id', account_id, 'channel_id', channel_id, 'priority', priority, 'rule_name', rule_name, 'description', description, 'filters', json(filters),
    'status', status, 'rule_id', rule_id, 'updated_by', updated_by, 'created_at', created_at, 'updated_at', updated_at, 'deleted_at', deleted_at,
    'from_incident_id', from_incident_id, 'time_filters', json(time_filters),
    'time_filter', CASE WHEN end_time <> 0 THEN json_object('start_time', start_time, 'end_time', end_time) END,
    'is_directly_discard', json(CASE WHEN is_directly_discard THEN 'true' ELSE 'false' END), 'is_auto_delete', json(CASE WHEN is_auto_delete THEN 'true' ELSE 'false' END))
FROM silence_rule;
INSERT INTO object (account_id, kind, id, parent, rank, name_folded, team_id, creator_id, created_at, updated_at, body)
SELECT account_id, 'drop_rule', rule_id, CAST(channel_id AS TEXT), priority, rule_name, 0, 0, created_at, updated_at, json_object(
    'account_id', account_id, 'channel_id', channel_id, 'priority', priority, 'rule_name', rule_name, 'description', description, 'filters', json(filters),
    'status', status, 'rule_id', rule_id, 'updated_by', updated_by, 'created_at', created_at, 'updated_at', updated_at, 'deleted_at', deleted_at)
FROM drop_rule;
DROP TABLE silence_rule;
DROP TABLE drop_rule;

ALTER TABLE channel ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';       -- name and description for searching; empty until the program folds them when it starts
ALTER TABLE channel ADD COLUMN creator_id BIGINT NOT NULL DEFAULT 0;       -- 0: not known
ALTER TABLE channel ADD COLUMN managing_teams TEXT NOT NULL DEFAULT '';    -- ",1,2,": teams that may read and change it besides the owning one
ALTER TABLE channel ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';        -- JSON: what else it is configured with, in the shape of the API
-- In the orders of the list, with what hides a channel, so that counting does not touch the rows.
CREATE INDEX channel_by_age ON channel (account_id, created_at, channel_id, is_private, creator_id, team_id);
CREATE INDEX channel_by_name ON channel (account_id, name_folded, channel_id);
CREATE INDEX channel_by_update ON channel (account_id, updated_at, channel_id);

-- Which channels a person has marked.
CREATE TABLE channel_star (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    channel_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, person_id, channel_id)
);
