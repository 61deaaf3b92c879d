-- +goose Up
-- A person asks others of a schedule to be on call in their place. The first yes becomes an override.
CREATE TABLE cover_request (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    request_id BIGINT NOT NULL,
    schedule_id BIGINT NOT NULL,
    person_id BIGINT NOT NULL,          -- who asks
    role_id BIGINT NOT NULL,            -- the on-call role; -1: each that the person holds
    start_at BIGINT NOT NULL,           -- Unix seconds, as all times here
    end_at BIGINT NOT NULL,             -- the first second after it
    reason TEXT NOT NULL,
    asked TEXT NOT NULL,                -- person ids as ,1,2,
    declined TEXT NOT NULL,             -- those of asked who declined, likewise
    status BIGINT NOT NULL,             -- 0 open, 1 accepted, 2 declined by all, 3 cancelled, 4 expired
    taken_by BIGINT NOT NULL,           -- who accepted; 0: no one
    override_id BIGINT NOT NULL,        -- what it became; 0: nothing
    expire_at BIGINT NOT NULL,          -- when no one can accept any more
    due_at BIGINT NOT NULL,             -- the same while it is open, else 0
    create_at BIGINT NOT NULL,
    update_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, request_id)
);
CREATE INDEX cover_request_by_person ON cover_request (account_id, person_id, create_at);
CREATE INDEX cover_request_by_schedule ON cover_request (account_id, schedule_id);
CREATE INDEX cover_request_by_due ON cover_request (due_at);
CREATE INDEX cover_request_by_end ON cover_request (end_at);
-- The row of the request names its override.
ALTER TABLE schedule_override DROP COLUMN request_id;
