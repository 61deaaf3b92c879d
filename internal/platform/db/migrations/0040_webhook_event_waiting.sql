-- +goose Up

-- How long events have waited to be matched is asked with every health check; their bodies must not be read for it.
CREATE INDEX webhook_event_waiting ON webhook_event (happened_at);
