-- +goose Up
ALTER TABLE schedule ADD COLUMN managed_only BIGINT NOT NULL DEFAULT 0; -- 1: its persons do not take, hand over or ask for shifts themselves
