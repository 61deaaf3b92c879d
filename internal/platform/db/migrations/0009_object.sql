-- +goose Up
-- The configuration of an account that is read as a whole and found by few things: templates, calendars,
-- rules, integrations and so on. What all kinds have in common stands in columns, the object itself in body.
CREATE TABLE object (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    kind TEXT NOT NULL,                 -- such as template or escalate_rule
    id TEXT NOT NULL,                   -- numbers in decimal
    parent TEXT NOT NULL,               -- id of the object it belongs to, such as the channel of a rule; empty: none
    rank BIGINT NOT NULL,               -- place among those of the same parent: a rule's priority
    name_folded TEXT NOT NULL,          -- what people search, with the differences between upper and lower case taken out
    team_id BIGINT NOT NULL,            -- owning team; 0: none
    creator_id BIGINT NOT NULL,         -- 0: not known
    created_at BIGINT NOT NULL,         -- Unix seconds; 0: not known
    updated_at BIGINT NOT NULL,
    body TEXT NOT NULL,                 -- JSON in the shape of the API, its secrets sealed
    PRIMARY KEY (account_id, kind, id)
);
CREATE INDEX object_of_parent ON object (account_id, kind, parent, rank, created_at, id);
CREATE INDEX object_by_age ON object (account_id, kind, created_at, id);
