-- +goose Up
ALTER TABLE rum_issue ADD COLUMN no_alert TEXT NOT NULL DEFAULT ''; -- why its newest errors open no alert; empty: they may
