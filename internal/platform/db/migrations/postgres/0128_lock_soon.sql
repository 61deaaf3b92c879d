-- +goose Up
-- Locks a shard of the table writer, or returns false after a tenth of a second. An error that the function catches is not
-- written to the server's log.
-- +goose StatementBegin
CREATE FUNCTION lock_soon(wanted BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql SET lock_timeout = '100ms' AS $lock$
BEGIN
    PERFORM 1 FROM writer WHERE shard = wanted FOR NO KEY UPDATE;
    RETURN TRUE;
EXCEPTION WHEN lock_not_available THEN
    RETURN FALSE;
END $lock$;
-- +goose StatementEnd
