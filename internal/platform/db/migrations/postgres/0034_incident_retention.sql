-- +goose Up
-- As the file of the same name for all engines, without what converts rows: no database of this engine is that old.
-- When an incident was closed, for pruning; 0: it is open, or that is not known. Unix seconds.
ALTER TABLE incident ADD COLUMN closed_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX incident_closed ON incident (closed_at) WHERE closed_at > 0;
CREATE INDEX alert_ended ON alert (end_time) WHERE end_time > 0;

-- Escalations go with their incident, as assignments and war rooms do.
CREATE TABLE escalation_of_incident (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    incident_id TEXT NOT NULL,
    run BIGINT NOT NULL,                -- 1, 2, 3: an incident that is opened again is escalated again
    rule_id TEXT NOT NULL,
    rule_name TEXT NOT NULL,
    rule TEXT NOT NULL,                 -- JSON: the rule as it was then, secrets sealed
    timing TEXT NOT NULL,               -- JSON: its times, as they became when a layer had nobody
    started_at BIGINT NOT NULL,         -- Unix seconds
    done BIGINT NOT NULL,               -- how many steps have been answered for
    next_at BIGINT NOT NULL,            -- when to look again, Unix seconds; 0: it has ended
    ended TEXT NOT NULL,                -- why: acknowledged, resolved, exhausted, replaced; empty: it goes on
    PRIMARY KEY (account_id, incident_id, run),
    FOREIGN KEY (account_id, incident_id) REFERENCES incident ON DELETE CASCADE
);
INSERT INTO escalation_of_incident SELECT account_id, incident_id, run, rule_id, rule_name, rule, timing, started_at, done, next_at, ended FROM escalation e
    WHERE EXISTS (SELECT 1 FROM incident i WHERE i.account_id = e.account_id AND i.incident_id = e.incident_id);
DROP TABLE escalation;
ALTER TABLE escalation_of_incident RENAME TO escalation;
CREATE INDEX escalation_due ON escalation (account_id, next_at) WHERE next_at > 0;
