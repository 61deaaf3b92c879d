-- +goose Up
-- Of PostgreSQL alone; see the file of the same name there.
SELECT 1;
