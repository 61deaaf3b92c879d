-- +goose Up
-- What the telephone service reported last about a notice that it took, such as delivered or no answer; empty: nothing.
ALTER TABLE notice ADD COLUMN delivery TEXT NOT NULL DEFAULT '';
-- How far that was: reports come out of order, and the furthest counts.
ALTER TABLE notice ADD COLUMN delivery_stage BIGINT NOT NULL DEFAULT 0;
-- The text messages to a person: a reply is about the latest of them.
CREATE INDEX notice_text ON notice (account_id, person_id, notice_id) WHERE way = 'sms';

-- Digits and replies that were acted on, so that the same one twice changes nothing.
CREATE TABLE phone_answer (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    sid TEXT NOT NULL,                  -- the telephone service's id of the call or message that the digit came in
    digit TEXT NOT NULL,
    answered_at BIGINT NOT NULL,        -- Unix milliseconds
    PRIMARY KEY (account_id, sid, digit)
);
CREATE INDEX phone_answer_age ON phone_answer (answered_at);
