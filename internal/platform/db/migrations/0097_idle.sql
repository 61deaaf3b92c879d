-- +goose Up
-- What an idle server looks for every second is found by an index: it costs the same with one account and with thousands.
CREATE INDEX account_behind_handover ON account (account_id) WHERE revision <> revision_handover;
CREATE INDEX account_behind_applied ON account (account_id) WHERE revision <> revision_applied;
CREATE INDEX account_behind_silence ON account (account_id) WHERE revision <> revision_silence;

-- The revision for which the rows of heartbeats are complete.
ALTER TABLE account ADD COLUMN revision_heartbeat BIGINT NOT NULL DEFAULT -1;
CREATE INDEX account_behind_heartbeat ON account (account_id) WHERE revision <> revision_heartbeat;
-- From when on a heartbeat is missing unless another sign of life comes, Unix seconds; 0: no one waits for it. An earlier
-- program leaves it as it is, so that a row is looked at too early and never too late.
ALTER TABLE heartbeat ADD COLUMN missing_at BIGINT NOT NULL DEFAULT 1;
-- The seconds from one sign of life to the next.
ALTER TABLE heartbeat ADD COLUMN interval_s BIGINT NOT NULL DEFAULT 0;
CREATE INDEX heartbeat_awaited ON heartbeat (missing_at) WHERE NOT missed;
CREATE INDEX heartbeat_missed ON heartbeat (missing_at) WHERE missed;

-- The revision for which the gaps of the account's schedules were counted.
ALTER TABLE account ADD COLUMN revision_gaps BIGINT NOT NULL DEFAULT -1;
CREATE INDEX account_behind_gaps ON account (account_id) WHERE revision <> revision_gaps;
-- How many enabled schedules of an account have no one on call. An account without such schedules has no row.
CREATE TABLE schedule_gap (
    account_id BIGINT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    gaps_now BIGINT NOT NULL,
    gaps_day BIGINT NOT NULL,           -- now, or at some time within 24 hours
    check_at BIGINT NOT NULL            -- until when that holds, Unix seconds
);
CREATE INDEX schedule_gap_due ON schedule_gap (check_at);
CREATE INDEX schedule_gap_open ON schedule_gap (account_id) WHERE gaps_day > 0;

CREATE INDEX own_alert_due ON own_alert (ends_at);
CREATE INDEX webhook_endpoint_trouble ON webhook_endpoint (account_id) WHERE reported <> '' OR failing_since > 0;
CREATE INDEX account_by_creation ON account (created_at, account_id);

-- What each start looks for: rows of an earlier program that are not complete.
CREATE INDEX person_unsearched ON person (account_id) WHERE name_folded = '';
CREATE INDEX team_unsearched ON team (account_id) WHERE name_folded = '';
CREATE INDEX channel_unsearched ON channel (account_id) WHERE name_folded = '';
CREATE INDEX rum_application_unsearched ON rum_application (account_id) WHERE name_folded = '';
