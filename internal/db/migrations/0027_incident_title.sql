-- +goose Up
-- The title for searching; empty until the program fills it in when it starts, because engines cannot fold.
ALTER TABLE incident ADD COLUMN title_folded TEXT NOT NULL DEFAULT '';
