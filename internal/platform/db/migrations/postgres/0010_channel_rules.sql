-- +goose Up
-- As the file of the same name for all engines, without what converts rows: no database of this engine is that old.
-- Rules of channels are kept as objects, as all other configuration is that is read as a whole.
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
