-- +goose Up
ALTER TABLE alert ADD COLUMN identifying TEXT NOT NULL DEFAULT '';      -- names of the labels that identify it at its source, joined by commas; empty: not known
