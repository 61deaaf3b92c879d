-- +goose Up
CREATE TABLE datasource (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    datasource_id BIGINT NOT NULL,      -- an unsigned 64-bit number, bit by bit
    type_ident TEXT NOT NULL,
    datasource_name TEXT NOT NULL,      -- a label: duplicates are allowed
    enabled BOOLEAN NOT NULL,
    note TEXT NOT NULL,
    address TEXT NOT NULL,
    payload TEXT NOT NULL,              -- JSON object with the one block of the type; secrets in it are sealed
    edge_cluster_name TEXT NOT NULL,
    updated_at BIGINT NOT NULL,         -- Unix seconds
    PRIMARY KEY (account_id, datasource_id)
);

-- The last id that was handed out. It outlives the datasource, so that an id never comes to mean another one.
CREATE TABLE datasource_counter (
    account_id BIGINT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    last_id BIGINT NOT NULL
);
