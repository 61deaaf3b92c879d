-- +goose Up
CREATE TABLE schedule (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    schedule_id BIGINT NOT NULL,
    schedule_name TEXT NOT NULL,
    name_folded TEXT NOT NULL,          -- schedule_name with the differences between upper and lower case taken out, for searching
    description TEXT NOT NULL,
    team_id BIGINT NOT NULL,            -- 0: no team; the team need not exist
    status BIGINT NOT NULL,             -- 0 enabled, 1 disabled
    time_zone TEXT NOT NULL,            -- IANA name; empty: the account's
    layers TEXT NOT NULL,               -- JSON array in the shape of the API, in the order sent
    notify TEXT NOT NULL,               -- JSON object in the shape of the API, its secrets sealed; empty: not set
    create_at BIGINT NOT NULL,          -- Unix seconds, as update_at
    create_by BIGINT NOT NULL,
    update_at BIGINT NOT NULL,
    update_by BIGINT NOT NULL,
    PRIMARY KEY (account_id, schedule_id)
);
CREATE INDEX schedule_by_age ON schedule (account_id, create_at, schedule_id);
