-- +goose Up
-- A person cannot be on call from start_at to end_at (Unix seconds).
CREATE TABLE person_absence (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    absence_id BIGINT NOT NULL,
    person_id BIGINT NOT NULL,
    start_at BIGINT NOT NULL,
    end_at BIGINT NOT NULL,             -- the first second after it
    note TEXT NOT NULL,
    create_at BIGINT NOT NULL,          -- Unix seconds, as update_at
    create_by BIGINT NOT NULL,
    update_at BIGINT NOT NULL,
    update_by BIGINT NOT NULL,
    PRIMARY KEY (account_id, absence_id)
);
CREATE INDEX person_absence_by_person ON person_absence (account_id, person_id, start_at, absence_id);
CREATE INDEX person_absence_by_end ON person_absence (end_at);
