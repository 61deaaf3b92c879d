-- +goose Up
-- What each event that opens an incident costs beside its rows. Events that wait are found by their account alone, so one
-- index is enough; and a row of an incident belongs to the account of the incident, which a constraint states already.
ALTER TABLE event_waiting DROP CONSTRAINT event_waiting_pkey;
DROP INDEX event_waiting_of_account;
ALTER TABLE event_waiting ADD CONSTRAINT event_waiting_of_account PRIMARY KEY (account_id, seq);
ALTER TABLE escalation DROP CONSTRAINT escalation_of_incident_account_id_fkey;
ALTER TABLE follow_up DROP CONSTRAINT follow_up_account_id_fkey;
