-- +goose Up
-- What messages call an alert, folded: searches of incidents look in it. Empty until the program fills it in when it
-- starts, because engines cannot fold.
ALTER TABLE alert ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';
-- Only what is not filled in yet: each start asks.
CREATE INDEX alert_unnamed ON alert (account_id, alert_id) WHERE name_folded = '' AND incident_id <> '';
