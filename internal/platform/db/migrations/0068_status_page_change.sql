-- +goose Up
-- Incidents and maintenances that status pages show. The pages themselves are objects of kind status_page.
CREATE TABLE status_page_change (
    account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE,
    change_id BIGINT NOT NULL,
    page_id BIGINT NOT NULL,
    type TEXT NOT NULL,                 -- incident or maintenance
    status TEXT NOT NULL,               -- of the last update that has one; a schedule may have moved it on since
    start_at BIGINT NOT NULL,           -- Unix seconds, as the next
    ongoing_at BIGINT NOT NULL,         -- when a schedule makes it ongoing; 9007199254740991: no schedule does
    closes_at BIGINT NOT NULL,          -- when it is over, by its updates or a schedule; 9007199254740991: not known
    body TEXT NOT NULL,                 -- JSON: the change with its updates
    PRIMARY KEY (account_id, change_id)
);
CREATE INDEX status_page_change_by_page ON status_page_change (account_id, page_id, start_at, change_id);
CREATE INDEX status_page_change_by_end ON status_page_change (account_id, closes_at, change_id);
