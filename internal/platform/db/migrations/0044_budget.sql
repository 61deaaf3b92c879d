-- +goose Up
-- Who gets a notification, for the limit of messages in a minute: a person over a method, or a chat; empty: no limit holds.
ALTER TABLE notice ADD COLUMN recipient TEXT NOT NULL DEFAULT '';
-- 0 to 2: pages of severity Critical, Warning, Info; 3: about no incident; 4: an incident is over.
ALTER TABLE notice ADD COLUMN urgency BIGINT NOT NULL DEFAULT 2;
-- 1: it shares a message with others: it waited for the limit, or what it is about was due long before it was stored.
ALTER TABLE notice ADD COLUMN late BIGINT NOT NULL DEFAULT 0;
-- The bundle in which it was sent or is tried, 24 hexadecimal digits; empty: none, it is a message by itself.
ALTER TABLE notice ADD COLUMN bundle TEXT NOT NULL DEFAULT '';
UPDATE notice SET recipient = 'p' || person_id || '/' || way WHERE settled_at = 0 AND person_id <> 0 AND way <> 'webhook';
DROP INDEX notice_queue;
CREATE INDEX notice_queue ON notice (lane, account_id, urgency, due_at) WHERE settled_at = 0;
CREATE INDEX notice_recipient ON notice (account_id, recipient, lane, urgency, created_at, notice_id) WHERE settled_at = 0;
CREATE INDEX notice_bundle ON notice (account_id, bundle) WHERE bundle <> '';

-- The messages of the last minute: a row for each that was sent or is being sent.
CREATE TABLE notice_send (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    recipient TEXT NOT NULL,
    sent_at BIGINT NOT NULL,            -- when its attempt began, Unix milliseconds
    message TEXT NOT NULL,              -- the bundle, or the notice
    PRIMARY KEY (account_id, recipient, sent_at, message)
);
CREATE INDEX notice_send_age ON notice_send (sent_at);
