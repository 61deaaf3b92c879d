-- +goose Up
-- The keys with which edges sign in. Each is good for one cluster.
CREATE TABLE edge_key (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    key_id BIGINT NOT NULL,
    key_hash TEXT NOT NULL,             -- SHA-256, 64 hexadecimal digits
    key_name TEXT NOT NULL,
    cluster_name TEXT NOT NULL,
    status TEXT NOT NULL,               -- enabled or disabled
    created_at BIGINT NOT NULL,         -- Unix milliseconds
    created_by BIGINT NOT NULL,         -- a person
    used_at BIGINT NOT NULL,            -- of the last join, Unix milliseconds; 0: never
    PRIMARY KEY (account_id, key_id)
);
CREATE UNIQUE INDEX edge_key_by_hash ON edge_key (key_hash);

-- The members of clusters: processes that evaluate rules at another place.
CREATE TABLE edge (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    cluster_name TEXT NOT NULL,
    edge_id TEXT NOT NULL,              -- 16 hexadecimal digits, of its public key
    run TEXT NOT NULL,                  -- of its process: an earlier process is refused
    started_at BIGINT NOT NULL,         -- Unix milliseconds
    seen_at BIGINT NOT NULL,            -- of its last sync, Unix milliseconds
    body TEXT NOT NULL,                 -- JSON: name, version, types, public key, clock and what it reported last
    PRIMARY KEY (account_id, cluster_name, edge_id)
);

CREATE INDEX edge_by_time ON edge (seen_at);

-- Which member evaluates which watches of a cluster: a watch belongs to one of 64 slots.
CREATE TABLE edge_slot (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    cluster_name TEXT NOT NULL,
    slot BIGINT NOT NULL,
    edge_id TEXT NOT NULL,
    epoch BIGINT NOT NULL,              -- how often the slot has changed hands
    moving_to TEXT NOT NULL,            -- the member that it is handed over to; empty: none
    since BIGINT NOT NULL,              -- Unix milliseconds of the last change
    PRIMARY KEY (account_id, cluster_name, slot)
);

-- What a member sent last of a watch, so that a duplicate that arrives late is dropped.
CREATE TABLE edge_taken (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    rule_id BIGINT NOT NULL,
    datasource_id BIGINT NOT NULL,
    run TEXT NOT NULL,                  -- of the member's process
    seq BIGINT NOT NULL,                -- of the message in the run
    taken_at BIGINT NOT NULL,           -- Unix milliseconds
    PRIMARY KEY (account_id, rule_id, datasource_id)
);

-- Queries of operations that wait for a member's answer.
CREATE TABLE edge_request (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    request_id TEXT NOT NULL,
    edge_id TEXT NOT NULL,              -- the member that is asked
    cluster_name TEXT NOT NULL,
    asked_at BIGINT NOT NULL,           -- Unix milliseconds
    fetched BOOLEAN NOT NULL,           -- the member has it
    body TEXT NOT NULL,                 -- JSON; the datasource is sealed to the member
    answer TEXT NOT NULL,               -- JSON; empty: not answered yet
    PRIMARY KEY (account_id, request_id)
);

CREATE INDEX datasource_of_edges ON datasource (account_id, edge_cluster_name) WHERE edge_cluster_name <> 'default';
