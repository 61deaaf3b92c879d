-- +goose Up
-- What goes out to webhooks: a row for each piece of news and each webhook that wants to be told of it. It is kept
-- as long as the history of deliveries, so that it can be sent again.
CREATE TABLE webhook_message (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    message_id TEXT NOT NULL,           -- 32 hexadecimal digits: event_id of the payload, the same for every attempt
    integration_id BIGINT NOT NULL,
    number BIGINT NOT NULL,             -- 1, 2, 3 in the order in which they were made for the integration
    webhook_type TEXT NOT NULL,         -- incident or alert
    event_type TEXT NOT NULL,
    channel_id BIGINT NOT NULL,
    ref_id TEXT NOT NULL,               -- incident or alert
    payload TEXT NOT NULL,              -- the body as it is sent
    attempt_id TEXT NOT NULL,           -- event_id of the attempt that is promised or being made; empty: none is
    attempts BIGINT NOT NULL,           -- how many were begun
    status TEXT NOT NULL,               -- waiting, sending, delivered, failed or cancelled
    started_at BIGINT NOT NULL,         -- when it was made, or sent again by hand: its time runs from here; Unix milliseconds
    due_at BIGINT NOT NULL,             -- Unix milliseconds; while sending: when the attempt is taken for lost
    settled_at BIGINT NOT NULL,         -- Unix milliseconds; 0: not yet
    outcome TEXT NOT NULL,              -- why it failed or was cancelled
    PRIMARY KEY (account_id, message_id)
);
CREATE INDEX webhook_message_due ON webhook_message (account_id, integration_id, due_at) WHERE settled_at = 0;
CREATE INDEX webhook_message_settled ON webhook_message (account_id, settled_at) WHERE settled_at > 0;

-- How each webhook's endpoint is: whoever does not answer is asked less often.
CREATE TABLE webhook_endpoint (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    integration_id BIGINT NOT NULL,
    number BIGINT NOT NULL,             -- of its latest message
    failures BIGINT NOT NULL,           -- failed attempts in a row
    held_until BIGINT NOT NULL,         -- no attempt before, Unix milliseconds; 0: it is not held
    PRIMARY KEY (account_id, integration_id)
);

-- What was said in an attempt, beside its delivery. Secrets are hidden. The request's body is the message's payload.
CREATE TABLE webhook_exchange (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    request_headers TEXT NOT NULL,      -- JSON, as the other
    error_message TEXT NOT NULL,
    response_headers TEXT NOT NULL,
    response_body TEXT NOT NULL,        -- its beginning
    PRIMARY KEY (account_id, event_id),
    FOREIGN KEY (account_id, event_id) REFERENCES webhook_delivery (account_id, event_id) ON DELETE CASCADE
);
