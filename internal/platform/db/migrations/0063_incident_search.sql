-- +goose Up
-- What a search looks in: the folded title, label values and description. Empty until the program fills it in when it
-- starts, because engines cannot fold.
ALTER TABLE incident RENAME COLUMN title_folded TO search_folded;
DROP INDEX IF EXISTS incident_unfolded;
UPDATE incident SET search_folded = '';
-- Only what is not filled in yet: each start asks.
CREATE INDEX incident_unsearched ON incident (account_id, incident_id) WHERE search_folded = '';
