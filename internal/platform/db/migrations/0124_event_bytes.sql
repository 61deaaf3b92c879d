-- +goose Up
-- How many bytes of events an integration has sent in a day. It is stored when a sixteenth of its bound has come, so most
-- integrations have no row.
CREATE TABLE event_bytes (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    integration_id BIGINT NOT NULL,
    day BIGINT NOT NULL,                -- since 1970, in UTC
    bytes BIGINT NOT NULL,
    PRIMARY KEY (account_id, integration_id, day)
);
CREATE INDEX event_bytes_by_age ON event_bytes (day);
