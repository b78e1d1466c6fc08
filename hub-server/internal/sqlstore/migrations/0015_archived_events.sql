-- +goose Up
-- An archived event that an edge reported leaves its id behind: an edge whose disk was put back from a copy may report it again.

CREATE TABLE archived_events (
    run_id   TEXT NOT NULL,
    event_id TEXT NOT NULL,
    PRIMARY KEY (run_id, event_id)
);

-- +goose Down
DROP TABLE archived_events;
