-- +goose Up
-- Notices are claimed queue by queue: what waits for one that hangs is not read on the way to another.
CREATE INDEX notice_queue ON notice (lane, due_at) WHERE settled_at = 0;

-- What happened and subscribers of webhooks may want: written in the transaction in which it happened, matched with the
-- subscriptions afterwards. A row is deleted with the insertion of its last message.
CREATE TABLE webhook_event (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    number BIGINT NOT NULL,             -- 1, 2, 3 in the order in which it happened; begins again when none is left
    token TEXT NOT NULL,                -- tells it from an earlier one of the same number
    webhook_type TEXT NOT NULL,         -- incident or alert
    event_type TEXT NOT NULL,
    channel_id BIGINT NOT NULL,
    ref_id TEXT NOT NULL,               -- incident or alert
    happened_at BIGINT NOT NULL,        -- Unix milliseconds
    payload TEXT NOT NULL,              -- the standard body, its event_id empty
    matched BIGINT NOT NULL,            -- subscribers up to this integration_id have their message
    PRIMARY KEY (account_id, number)
);
-- What is given up because it has waited too long is found without reading what has not.
CREATE INDEX webhook_message_age ON webhook_message (account_id, integration_id, started_at) WHERE settled_at = 0;
