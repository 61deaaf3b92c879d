-- +goose Up
-- Indexes in the whole order in which they are read. Where the last part of an order is missing the engine
-- prefers an index that has all of it, and reads every alert of the account for one of them.
DROP INDEX alert_by_key;
CREATE INDEX alert_by_key ON alert (account_id, channel_id, alert_key, start_time, alert_id);
DROP INDEX alert_of_incident;
CREATE INDEX alert_of_incident ON alert (account_id, incident_id, start_time, alert_id);
CREATE INDEX alert_muted_by ON alert (account_id, muted_by) WHERE end_time = 0 AND muted_by <> '';
DROP INDEX incident_by_group;
CREATE INDEX incident_by_group ON incident (account_id, channel_id, group_key, start_time, incident_id) WHERE group_key <> '' AND progress <> 'Closed';
