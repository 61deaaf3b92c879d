-- +goose Up
-- Notices that waited when the limit of messages came were all taken for pages of the least severity: they would share
-- messages with pages, and the end of an incident would be named as one that needs an acknowledgement.
UPDATE notice SET urgency = 4 WHERE settled_at = 0 AND cause = 'recovery' AND urgency = 2;
UPDATE notice SET urgency = 3 WHERE settled_at = 0 AND incident_id = '' AND urgency = 2;
UPDATE notice SET urgency = 0 WHERE settled_at = 0 AND urgency = 2 AND cause <> 'joined' AND EXISTS (SELECT 1 FROM incident i
    WHERE i.account_id = notice.account_id AND i.incident_id = notice.incident_id AND i.severity = 'Critical');
UPDATE notice SET urgency = 1 WHERE settled_at = 0 AND urgency = 2 AND cause <> 'joined' AND EXISTS (SELECT 1 FROM incident i
    WHERE i.account_id = notice.account_id AND i.incident_id = notice.incident_id AND i.severity = 'Warning');
