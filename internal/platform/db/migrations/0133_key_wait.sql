-- +goose Up
ALTER TABLE app_key ADD COLUMN limit_wait BIGINT; -- seconds that calls above a limit wait for their turn; NULL: as the server is set
