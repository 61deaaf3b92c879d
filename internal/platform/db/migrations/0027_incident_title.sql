-- +goose Up
-- The title for searching; empty until the program fills it in when it starts, because engines cannot fold.
ALTER TABLE incident ADD COLUMN title_folded TEXT NOT NULL DEFAULT '';
-- Only what is not filled in yet: each start asks.
CREATE INDEX incident_unfolded ON incident (account_id, incident_id) WHERE title_folded = '' AND title <> '';
