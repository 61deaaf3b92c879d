-- +goose Up
ALTER TABLE schedule ADD COLUMN when_absent BIGINT NOT NULL DEFAULT 0; -- when everyone of a group is absent; 0: the next group stands in, 1: no one
