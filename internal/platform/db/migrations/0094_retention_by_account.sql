-- +goose Up
-- Retention deletes account by account.
DROP INDEX incident_closed;
CREATE INDEX incident_closed ON incident (account_id, closed_at) WHERE closed_at > 0;
DROP INDEX alert_ended;
CREATE INDEX alert_ended ON alert (account_id, end_time) WHERE end_time > 0;
DROP INDEX untold_event_age;
CREATE INDEX untold_event_age ON untold (account_id, last_at) WHERE incident_id = '';
DROP INDEX schedule_override_by_end;
CREATE INDEX schedule_override_by_end ON schedule_override (account_id, end_at);
DROP INDEX person_absence_by_end;
CREATE INDEX person_absence_by_end ON person_absence (account_id, end_at);
DROP INDEX cover_request_by_end;
CREATE INDEX cover_request_by_end ON cover_request (account_id, end_at);
