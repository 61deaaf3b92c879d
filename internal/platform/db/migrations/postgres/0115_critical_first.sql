-- +goose Up
-- What was sent as Critical is decided first, without overtaking what came before it about the same alert. An earlier program
-- leaves the columns as they are: such an event waits its turn, and no later one overtakes it.
ALTER TABLE event_waiting ADD COLUMN rank BIGINT NOT NULL DEFAULT 1;      -- 0: sent as Critical; 1: all others
ALTER TABLE event_waiting ADD COLUMN chain BIGINT NOT NULL DEFAULT 0;     -- a hash of the alert key; 0: not known
-- The request that an event came with, if it had several events; 0: it came alone. closes is 1 for the one that waits last.
ALTER TABLE event_waiting ADD COLUMN request BIGINT NOT NULL DEFAULT 0;
ALTER TABLE event_waiting ADD COLUMN closes BIGINT NOT NULL DEFAULT 0;
CREATE INDEX event_waiting_first ON event_waiting (account_id, seq) WHERE rank = 0;
