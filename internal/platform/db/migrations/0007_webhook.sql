-- +goose Up
CREATE TABLE webhook_delivery (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    event_time BIGINT NOT NULL,         -- Unix nanoseconds
    status TEXT NOT NULL,               -- success or failed
    integration_id BIGINT NOT NULL,
    event_type TEXT NOT NULL,
    ref_id TEXT NOT NULL,               -- incident or alert
    webhook_type TEXT NOT NULL,
    channel_id BIGINT NOT NULL,
    endpoint TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    duration BIGINT NOT NULL,           -- milliseconds
    status_code BIGINT NOT NULL,
    PRIMARY KEY (account_id, event_id)
);
-- One index for each way to filter, all of them in the order of the list, so that a page is read without
-- looking at a row that is not on it. The status has but two values: a list of both is merged from two.
CREATE INDEX delivery_by_status ON webhook_delivery (account_id, status, event_time, event_id);
CREATE INDEX delivery_by_integration ON webhook_delivery (account_id, integration_id, status, event_time, event_id);
CREATE INDEX delivery_by_type ON webhook_delivery (account_id, event_type, status, event_time, event_id);
CREATE INDEX delivery_by_both ON webhook_delivery (account_id, (CAST(integration_id AS TEXT) || ' ' || status || ' ' || event_type), event_time, event_id);
CREATE INDEX delivery_by_ref ON webhook_delivery (account_id, ref_id, event_time, event_id, integration_id, event_type, status);

-- How many deliveries there are, because counting a million is too slow to do on every call: a row for
-- every hour and every combination of filters that matches any in it.
CREATE TABLE webhook_count (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    shape BIGINT NOT NULL,              -- what is told apart: 1 integration + 2 event type + 4 status
    integration_id BIGINT NOT NULL,     -- 0 when not told apart
    event_type TEXT NOT NULL,           -- empty when not told apart, as the status
    status TEXT NOT NULL,
    hour BIGINT NOT NULL,               -- Unix time in hours
    s0 BIGINT NOT NULL,                 -- deliveries in the hour's first five minutes
    s1 BIGINT NOT NULL,
    s2 BIGINT NOT NULL,
    s3 BIGINT NOT NULL,
    s4 BIGINT NOT NULL,
    s5 BIGINT NOT NULL,
    s6 BIGINT NOT NULL,
    s7 BIGINT NOT NULL,
    s8 BIGINT NOT NULL,
    s9 BIGINT NOT NULL,
    s10 BIGINT NOT NULL,
    s11 BIGINT NOT NULL,
    PRIMARY KEY (account_id, shape, integration_id, event_type, status, hour)
);
