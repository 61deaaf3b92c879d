-- +goose Up
-- What a message was sent for besides an event: test or replay. The ledger has it for each attempt.
ALTER TABLE webhook_message ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE webhook_delivery ADD COLUMN origin TEXT NOT NULL DEFAULT '';

-- When the event of a message happened, Unix milliseconds. It stays when the message is sent again.
ALTER TABLE webhook_message ADD COLUMN happened_at BIGINT NOT NULL DEFAULT 0;
UPDATE webhook_message SET happened_at = started_at;
-- It has all columns of a filter, because the payload stands before them in the row.
CREATE INDEX webhook_message_happened ON webhook_message
    (account_id, integration_id, happened_at, number, message_id, status, event_type, channel_id, ref_id, origin, settled_at) WHERE settled_at > 0;
CREATE INDEX webhook_message_replayed ON webhook_message (account_id, integration_id) WHERE settled_at = 0 AND origin = 'replay';

-- A replay sends again what a filter finds in a window of one webhook, oldest first.
CREATE TABLE webhook_replay (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    replay_id TEXT NOT NULL,            -- 24 hexadecimal digits
    integration_id BIGINT NOT NULL,
    filter TEXT NOT NULL,               -- JSON
    found BIGINT NOT NULL,              -- messages when it began
    sent BIGINT NOT NULL,               -- messages made due so far
    position_at BIGINT NOT NULL,        -- happened_at of the last message that was looked at, Unix milliseconds
    position_number BIGINT NOT NULL,    -- its number
    status TEXT NOT NULL,               -- running, done or cancelled
    reason TEXT NOT NULL,               -- why it was cancelled
    person_id BIGINT NOT NULL,          -- who began it
    created_at BIGINT NOT NULL,         -- Unix seconds
    ended_at BIGINT NOT NULL,           -- Unix seconds; 0: it goes on
    PRIMARY KEY (account_id, replay_id)
);
CREATE UNIQUE INDEX webhook_replay_running ON webhook_replay (account_id, integration_id) WHERE status = 'running';
