-- +goose Up
-- How often a schedule was changed: 1 when it is created, one more with every change of it or of its overrides. A schedule
-- of an account file begins with the account's revision, which is never lower, so that no number means two states.
ALTER TABLE schedule ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;

-- A person is on call in a schedule in place of another, or of everyone who holds a role, from start_at to end_at (Unix seconds).
CREATE TABLE schedule_override (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    override_id BIGINT NOT NULL,
    schedule_id BIGINT NOT NULL,
    person_id BIGINT NOT NULL,          -- who is replaced; 0: everyone who holds role_id
    role_id BIGINT NOT NULL,            -- in which on-call role; -1: in each that person_id holds
    by_person BIGINT NOT NULL,          -- who is on call instead
    start_at BIGINT NOT NULL,
    end_at BIGINT NOT NULL,             -- the first second after it
    reason TEXT NOT NULL,
    revision BIGINT NOT NULL,           -- of the schedule with the last change of this row
    request_id BIGINT NOT NULL DEFAULT 0, -- the request for cover that it answers; 0: none
    released BIGINT NOT NULL DEFAULT 0, -- 1: it is past, and its references are deleted
    create_at BIGINT NOT NULL,          -- Unix seconds, as update_at
    create_by BIGINT NOT NULL,
    update_at BIGINT NOT NULL,
    update_by BIGINT NOT NULL,
    PRIMARY KEY (account_id, override_id)
);
CREATE INDEX schedule_override_by_schedule ON schedule_override (account_id, schedule_id, create_at, override_id);
CREATE INDEX schedule_override_by_person ON schedule_override (account_id, by_person);
CREATE INDEX schedule_override_by_end ON schedule_override (end_at);
