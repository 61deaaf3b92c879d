-- +goose Up
-- The feed and the audit log are kept in parts by time too: see docs/decisions/0029-partitions.md. What is there becomes the
-- first part, up to the end of this week, with the indexes that it has. No row is copied but those of a later time, if there are any.
-- Programs of an earlier version run on: tables and columns have the names that they had.
-- +goose StatementBegin
CREATE FUNCTION pg_temp.in_parts(name text, key text, bound text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    item record;
    indexes text[] := '{}';
    earlier text := name || '_before';
    others text := name || '_default';
BEGIN
    FOR item IN SELECT i.relname, pg_get_indexdef(i.oid) AS def, pg_get_constraintdef(c.oid) AS identity
            FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid LEFT JOIN pg_constraint c ON c.conindid = i.oid AND c.contype = 'p'
            WHERE x.indrelid = CAST(name AS regclass) ORDER BY i.relname LOOP
        IF item.identity IS NULL THEN
            indexes := indexes || item.def;
        ELSE
            indexes := indexes || format('ALTER TABLE %I ADD %s', name, item.identity);
        END IF;
        EXECUTE format('ALTER INDEX %I RENAME TO %I', item.relname, earlier || '_' || item.relname);
    END LOOP;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', name, earlier);
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS) PARTITION BY RANGE (%I)', name, earlier, key);
    FOR n IN 1 .. cardinality(indexes) LOOP
        EXECUTE indexes[n];
    END LOOP;
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', others, name);
    EXECUTE format('WITH later AS (DELETE FROM %I WHERE %I >= %L RETURNING *) INSERT INTO %I SELECT * FROM later', earlier, key, bound, others);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', name, earlier, bound);
END $$;
-- +goose StatementEnd

-- The rows of an entry go with it by their time, not by a constraint.
LOCK TABLE audit_log, audit_touched, audit_channel, feed IN ACCESS EXCLUSIVE MODE;
ALTER TABLE audit_touched DROP CONSTRAINT audit_touched_account_id_fkey;
ALTER TABLE audit_touched DROP CONSTRAINT audit_touched_account_id_audit_id_fkey;
ALTER TABLE audit_channel DROP CONSTRAINT audit_channel_account_id_fkey;
ALTER TABLE audit_channel DROP CONSTRAINT audit_channel_account_id_audit_id_fkey;
ALTER TABLE audit_log DROP CONSTRAINT audit_log_account_id_fkey;

-- +goose StatementBegin
DO $$
DECLARE
    monday bigint := (floor((extract(epoch FROM now()) + 3 * 86400) / 604800) + 1) * 604800 - 3 * 86400; -- the next
    ulid text := '';
BEGIN
    FOR n IN 0 .. 9 LOOP -- its milliseconds, five bits to a digit
        ulid := substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', CAST((monday * 1000 >> (5 * n)) & 31 AS int) + 1, 1) || ulid;
    END LOOP;
    PERFORM pg_temp.in_parts('feed', 'ref_id', lpad(to_hex(monday), 8, '0'));
    PERFORM pg_temp.in_parts('audit_log', 'audit_id', ulid);
    PERFORM pg_temp.in_parts('audit_touched', 'audit_id', ulid);
    PERFORM pg_temp.in_parts('audit_channel', 'audit_id', ulid);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION delete_with_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM event WHERE account_id = OLD.account_id;
    DELETE FROM event_waiting WHERE account_id = OLD.account_id;
    DELETE FROM verdict WHERE account_id = OLD.account_id;
    DELETE FROM feed WHERE account_id = OLD.account_id;
    DELETE FROM webhook_delivery WHERE account_id = OLD.account_id;
    DELETE FROM webhook_exchange WHERE account_id = OLD.account_id;
    DELETE FROM audit_log WHERE account_id = OLD.account_id;
    DELETE FROM audit_touched WHERE account_id = OLD.account_id;
    DELETE FROM audit_channel WHERE account_id = OLD.account_id;
    RETURN OLD;
END $$;
-- +goose StatementEnd
