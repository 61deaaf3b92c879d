-- +goose Up
ALTER TABLE team ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE team ADD COLUMN ref_id TEXT NOT NULL DEFAULT '';           -- its id in the system it comes from; empty: none
ALTER TABLE team ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';      -- team_name for searching; empty until the program folds it when it starts
ALTER TABLE team ADD COLUMN creator_id BIGINT NOT NULL DEFAULT 0;      -- 0: not known
ALTER TABLE team ADD COLUMN updated_by BIGINT NOT NULL DEFAULT 0;
ALTER TABLE team ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;      -- Unix seconds; 0: not known
ALTER TABLE team ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;

ALTER TABLE role ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE role ADD COLUMN status TEXT NOT NULL DEFAULT 'enabled';    -- a disabled role gives nothing
ALTER TABLE role ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE role ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;

ALTER TABLE person ADD COLUMN country_code TEXT NOT NULL DEFAULT '';   -- of the phone number
ALTER TABLE person ADD COLUMN ref_id TEXT NOT NULL DEFAULT '';
ALTER TABLE person ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';    -- name and e-mail for searching, likewise
ALTER TABLE person ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE person ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
