-- +goose Up
-- What the role of a datasource may do besides reading, as its last test found it; empty: nothing that is known.
ALTER TABLE datasource ADD COLUMN can_write TEXT NOT NULL DEFAULT '';
