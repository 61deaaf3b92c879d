-- +goose Up
-- Lists of one webhook or of one event type are merged from ranges of delivery_by_both: each delivery is written to two
-- indexes less. An earlier program reads such a list row by row.
DROP INDEX delivery_by_integration;
DROP INDEX delivery_by_type;
