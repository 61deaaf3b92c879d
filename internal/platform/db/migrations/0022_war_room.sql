-- +goose Up
-- Groups in chat services where people work on an incident: at most one for each integration.
CREATE TABLE war_room (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    incident_id TEXT NOT NULL,
    integration_id BIGINT NOT NULL,
    plugin_type TEXT NOT NULL,          -- the service, such as slack; kept when the integration is deleted
    status TEXT NOT NULL,               -- creating: the service is being asked; open
    chat_id TEXT NOT NULL,              -- the group at the service, as the next two; empty: not yet known
    chat_name TEXT NOT NULL,
    share_link TEXT NOT NULL,           -- empty: the service gives none
    created_by BIGINT NOT NULL,         -- a person
    created_at BIGINT NOT NULL,         -- Unix seconds
    PRIMARY KEY (account_id, incident_id, integration_id),
    FOREIGN KEY (account_id, incident_id) REFERENCES incident ON DELETE CASCADE
);
CREATE INDEX war_room_chat ON war_room (account_id, integration_id, chat_id);
