-- +goose Up
-- The channels that a write was about: who may not read one of them sees neither what was sent nor what was changed.
CREATE TABLE audit_channel (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    audit_id TEXT NOT NULL,
    channel_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, audit_id, channel_id),
    FOREIGN KEY (account_id, audit_id) REFERENCES audit_log ON DELETE CASCADE
);
-- Of earlier writes, as far as what they changed still tells.
INSERT INTO audit_channel (account_id, audit_id, channel_id)
    SELECT DISTINCT t.account_id, t.audit_id, CAST(t.object_id AS BIGINT) FROM audit_touched t WHERE t.kind = 'channel';
INSERT INTO audit_channel (account_id, audit_id, channel_id)
    SELECT DISTINCT t.account_id, t.audit_id, i.channel_id FROM audit_touched t
    JOIN incident i ON i.account_id = t.account_id AND i.incident_id = t.object_id WHERE t.kind = 'incident' AND i.channel_id <> 0 ON CONFLICT DO NOTHING;
INSERT INTO audit_channel (account_id, audit_id, channel_id)
    SELECT DISTINCT t.account_id, t.audit_id, a.channel_id FROM audit_touched t
    JOIN alert a ON a.account_id = t.account_id AND a.alert_id = t.object_id WHERE t.kind = 'alert' AND a.channel_id <> 0 ON CONFLICT DO NOTHING;
INSERT INTO audit_channel (account_id, audit_id, channel_id)
    SELECT DISTINCT t.account_id, t.audit_id, CAST(o.parent AS BIGINT) FROM audit_touched t
    JOIN object o ON o.account_id = t.account_id AND o.kind = t.kind AND o.id = t.object_id
    WHERE t.kind IN ('silence_rule', 'drop_rule', 'inhibit_rule', 'escalate_rule') ON CONFLICT DO NOTHING;
INSERT INTO audit_channel (account_id, audit_id, channel_id)
    SELECT DISTINCT t.account_id, t.audit_id, CAST(r.to_id AS BIGINT) FROM audit_touched t
    JOIN reference r ON r.account_id = t.account_id AND r.from_kind = t.kind AND r.from_id = t.object_id AND r.to_kind = 'channel'
    WHERE t.kind IN ('integration', 'route') ON CONFLICT DO NOTHING;
