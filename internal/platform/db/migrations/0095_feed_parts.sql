-- +goose Up
-- Parts of the feed and of the audit log: the tables of this engine have none.
SELECT 1;
