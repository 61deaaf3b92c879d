-- +goose Up
-- A list of values as one parameter: json_each as the embedded engine has it, of arrays. One row is expected of it, so that
-- rows are found by an index for each value: a list is short, and a table may be much larger than the planner believes. It
-- is strict so that this estimate holds; otherwise the function would be replaced by its text.
CREATE FUNCTION json_each(list text, OUT key bigint, OUT value text) RETURNS SETOF record LANGUAGE sql IMMUTABLE STRICT ROWS 1
    AS 'SELECT n - 1, v FROM json_array_elements_text(CAST(list AS json)) WITH ORDINALITY AS each (v, n)';
