-- +goose Up
-- The oldest schema that a program must know to run on this one. A migration that removes or changes what an earlier
-- program relies on raises it to the version that the earliest program which can still run knows; one that only adds does
-- not. See docs/decisions/0027-many-nodes.md.
CREATE TABLE schema_floor (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL
);
INSERT INTO schema_floor (one, version) VALUES (1, 87);
