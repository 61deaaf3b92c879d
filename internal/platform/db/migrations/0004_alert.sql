-- +goose Up
CREATE TABLE incident (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    incident_id TEXT NOT NULL,
    title TEXT NOT NULL,
    channel_id BIGINT NOT NULL,         -- 0: none
    progress TEXT NOT NULL,             -- Triggered, Processing or Closed
    PRIMARY KEY (account_id, incident_id)
);

CREATE TABLE incident_assignment (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    incident_id TEXT NOT NULL,
    position BIGINT NOT NULL,           -- keeps the order in which assignments were made; a person may have several
    person_id BIGINT NOT NULL,
    assigned_at BIGINT NOT NULL,        -- Unix seconds
    removed_at BIGINT NOT NULL,         -- Unix seconds; 0: still responsible
    PRIMARY KEY (account_id, incident_id, position),
    FOREIGN KEY (account_id, incident_id) REFERENCES incident ON DELETE CASCADE
);

CREATE TABLE alert (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    alert_id TEXT NOT NULL,
    channel_id BIGINT NOT NULL,         -- 0: none
    incident_id TEXT NOT NULL,          -- empty: merged into no incident
    integration_id BIGINT NOT NULL,
    integration_name TEXT NOT NULL,     -- name, type and reference as they were when the alert came in
    integration_type TEXT NOT NULL,
    integration_ref_id TEXT NOT NULL,
    alert_key TEXT NOT NULL,            -- events with the same key belong to the same alert
    title TEXT NOT NULL,
    title_rule TEXT NOT NULL,
    description TEXT NOT NULL,
    alert_severity TEXT NOT NULL,       -- the highest so far: Critical, Warning, Info or Ok
    alert_status TEXT NOT NULL,         -- of the last event: Critical, Warning, Info or Ok
    start_time BIGINT NOT NULL,         -- Unix seconds, as every *_time and *_at here
    last_time BIGINT NOT NULL,
    end_time BIGINT NOT NULL,           -- 0: still active
    event_cnt BIGINT NOT NULL,
    ever_muted BOOLEAN NOT NULL,
    responder_name TEXT NOT NULL,
    responder_email TEXT NOT NULL,
    labels TEXT NOT NULL,               -- JSON object of strings
    images TEXT NOT NULL,               -- JSON array
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,         -- 0: not deleted
    PRIMARY KEY (account_id, alert_id)
);
