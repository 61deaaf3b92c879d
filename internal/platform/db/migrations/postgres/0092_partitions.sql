-- +goose Up
-- The largest histories are kept in parts by time, so that retention drops parts instead of deleting rows: see
-- docs/decisions/0029-partitions.md. What is there becomes the first part, up to the end of this week. No row is
-- copied but those of a later time, if there are any. Programs of an earlier version run on: tables and columns have the
-- names that they had.
-- +goose StatementBegin
CREATE FUNCTION pg_temp.in_parts(name text, key text, identity text, bound text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    item record;
    indexes text[] := '{}';
    earlier text := name || '_before';
    others text := name || '_default';
BEGIN
    FOR item IN SELECT conname FROM pg_constraint WHERE conrelid = CAST(name AS regclass) AND contype IN ('f', 'p') ORDER BY contype LOOP
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', name, item.conname);
    END LOOP;
    FOR item IN SELECT i.relname, pg_get_indexdef(i.oid) AS def FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
            WHERE x.indrelid = CAST(name AS regclass) ORDER BY i.relname LOOP
        indexes := indexes || item.def;
        EXECUTE format('ALTER INDEX %I RENAME TO %I', item.relname, earlier || '_' || item.relname);
    END LOOP;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', name, earlier);
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS) PARTITION BY RANGE (%I)', name, earlier, key);
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (%s)', name, identity);
    FOR n IN 1 .. cardinality(indexes) LOOP
        EXECUTE indexes[n];
    END LOOP;
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', others, name);
    EXECUTE format('WITH later AS (DELETE FROM %I WHERE %I >= %L RETURNING *) INSERT INTO %I SELECT * FROM later', earlier, key, bound, others);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', name, earlier, bound);
END $$;
-- +goose StatementEnd

-- Earlier programs do not write the time of an exchange: it is stored right after its attempt.
ALTER TABLE webhook_exchange ADD COLUMN event_time BIGINT NOT NULL DEFAULT CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS BIGINT);
UPDATE webhook_exchange x SET event_time = d.event_time FROM webhook_delivery d WHERE d.account_id = x.account_id AND d.event_id = x.event_id;

-- +goose StatementBegin
DO $$
DECLARE
    monday bigint := (floor((extract(epoch FROM now()) + 3 * 86400) / 604800) + 1) * 604800 - 3 * 86400; -- the next
BEGIN
    PERFORM pg_temp.in_parts('event', 'event_id', 'account_id, event_id', lpad(to_hex(monday), 8, '0'));
    PERFORM pg_temp.in_parts('verdict', 'verdict_id', 'account_id, verdict_id', CAST(monday * 1000000 AS text));
    PERFORM pg_temp.in_parts('webhook_exchange', 'event_time', 'account_id, event_id, event_time', CAST(monday * 1000000000 AS text));
    PERFORM pg_temp.in_parts('webhook_delivery', 'event_time', 'account_id, event_id, event_time', CAST(monday * 1000000000 AS text));
END $$;
-- +goose StatementEnd

-- Rows that come with every event refer to their account in no constraint, which would be checked for each of them. The
-- statement that inserts rows calls this once instead. As a constraint does, it locks the accounts, so that they cannot be
-- deleted before the commit.
-- +goose StatementBegin
CREATE FUNCTION known_accounts(accounts bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    known bigint;
BEGIN
    PERFORM 1 FROM account WHERE account_id = ANY (accounts) ORDER BY account_id FOR KEY SHARE;
    GET DIAGNOSTICS known = ROW_COUNT;
    IF known < cardinality(accounts) THEN
        RAISE 'a row belongs to no account' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN TRUE;
END $$;
-- +goose StatementEnd

-- They are deleted with their account all the same.
-- +goose StatementBegin
CREATE FUNCTION delete_with_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM event WHERE account_id = OLD.account_id;
    DELETE FROM event_waiting WHERE account_id = OLD.account_id;
    DELETE FROM verdict WHERE account_id = OLD.account_id;
    DELETE FROM feed WHERE account_id = OLD.account_id;
    DELETE FROM webhook_delivery WHERE account_id = OLD.account_id;
    DELETE FROM webhook_exchange WHERE account_id = OLD.account_id;
    RETURN OLD;
END $$;
-- +goose StatementEnd
CREATE TRIGGER delete_with_account BEFORE DELETE ON account FOR EACH ROW EXECUTE FUNCTION delete_with_account();
ALTER TABLE event_waiting DROP CONSTRAINT event_waiting_account_id_fkey;
ALTER TABLE feed DROP CONSTRAINT feed_account_id_fkey;
