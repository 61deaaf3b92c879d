-- +goose Up
-- The deliveries of whole days, so that the total of a wide window adds up days and not hours.
CREATE TABLE webhook_count_day (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    shape BIGINT NOT NULL,              -- this and the next three as in webhook_count
    integration_id BIGINT NOT NULL,
    event_type TEXT NOT NULL,
    status TEXT NOT NULL,
    day BIGINT NOT NULL,                -- Unix time in days
    deliveries BIGINT NOT NULL,
    PRIMARY KEY (account_id, shape, integration_id, event_type, status, day)
);
INSERT INTO webhook_count_day (account_id, shape, integration_id, event_type, status, day, deliveries)
    SELECT account_id, shape, integration_id, event_type, status, hour / 24, sum(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11)
    FROM webhook_count GROUP BY account_id, shape, integration_id, event_type, status, hour / 24;

-- Shift notices list the schedules that ask for them after each change of the configuration; most do not ask.
CREATE INDEX schedule_notifying ON schedule (account_id, schedule_id) WHERE notify <> '';
