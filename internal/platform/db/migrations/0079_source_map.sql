-- +goose Up
-- Source maps that builds upload, to show stacks in the original code. All times are Unix seconds.
CREATE TABLE source_map (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    map_id TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- browser
    service TEXT NOT NULL,
    version TEXT NOT NULL,
    minified_url TEXT NOT NULL,         -- address of the file that the map is of, as the build states it
    url_folded TEXT NOT NULL,           -- minified_url for searching
    path TEXT NOT NULL,                 -- of minified_url, with a slash in front, without scheme, host, query and fragment
    size BIGINT NOT NULL,               -- of the map, bytes
    stored BIGINT NOT NULL,             -- what it counts of the account's limits, bytes
    git_repository_url TEXT NOT NULL,
    git_commit_sha TEXT NOT NULL,
    cli_version TEXT NOT NULL,
    project_path TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,            -- when it is deleted
    text TEXT NOT NULL,                 -- the map, gzip in base64
    PRIMARY KEY (account_id, map_id),
    UNIQUE (account_id, kind, service, version, minified_url)
);
CREATE INDEX source_map_of_path ON source_map (account_id, service, path, version);
CREATE INDEX source_map_size ON source_map (account_id, service, updated_at, stored);
CREATE INDEX source_map_by_creation ON source_map (account_id, created_at, map_id);
CREATE INDEX source_map_end ON source_map (ends_at);
