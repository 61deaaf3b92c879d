-- +goose Up
-- Whether the server on this database may send, and which file it may send from. One row; none before the first start.
CREATE TABLE hold (
    hold_id BIGINT PRIMARY KEY,         -- 1
    inode BIGINT NOT NULL,              -- of the database file; 0: not known
    born_at BIGINT NOT NULL,            -- when the file was created, Unix nanoseconds; 0: not known
    place TEXT NOT NULL,                -- its path and host, for people
    reason TEXT NOT NULL,               -- why the server sends nothing; empty: it sends
    since BIGINT NOT NULL               -- Unix seconds
);

-- The open incidents by channel and severity, for metrics: the index alone answers.
CREATE INDEX incident_open ON incident (channel_id, severity, progress, start_time) WHERE progress <> 'Closed';
