-- +goose Up
-- A list of values as one parameter: json_each, which this engine has.
SELECT 1;
