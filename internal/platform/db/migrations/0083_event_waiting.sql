-- +goose Up
-- Events that wait for their verdict, in the order in which they are decided. The number comes from the database, so that
-- a sender that waits for its answer gets a later one from whichever process takes the next event. Events themselves are
-- only inserted and deleted: what changes with each of them is in this small table.
CREATE TABLE event_waiting (
    seq INTEGER PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    received_at BIGINT NOT NULL,        -- as in event
    attempts BIGINT NOT NULL DEFAULT 0  -- how often deciding it has failed
);
CREATE INDEX event_waiting_of_account ON event_waiting (account_id, seq);
INSERT INTO event_waiting (account_id, event_id, received_at, attempts)
    SELECT account_id, event_id, received_at, attempts FROM event WHERE decided_at = 0 ORDER BY received_at;
DROP INDEX event_pending;
ALTER TABLE event DROP COLUMN decided_at;
ALTER TABLE event DROP COLUMN attempts;
