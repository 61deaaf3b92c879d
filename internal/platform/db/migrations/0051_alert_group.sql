-- +goose Up
ALTER TABLE alert ADD COLUMN group_key TEXT NOT NULL DEFAULT '';        -- the group that its source puts it into; empty: it has none
ALTER TABLE alert ADD COLUMN flapping_until BIGINT NOT NULL DEFAULT 0;  -- Unix seconds; until when it is muted for flapping, whatever makes it due before
UPDATE alert SET flapping_until = muted_until WHERE muted = 'flapping';
