-- +goose Up
-- What clients are owed and how far their devices have come.

-- Roughly what a row's frames weigh: decides between a replay and a snapshot without expanding anything.
ALTER TABLE outbox ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;

-- How far each device has been served, for clients that send no cursor. Moved in batches, only forward within an epoch.
CREATE TABLE device_marks (
    device_id TEXT   PRIMARY KEY,
    user_id   TEXT   NOT NULL,
    epoch     TEXT   NOT NULL,
    pos       BIGINT NOT NULL
);

-- +goose Down
DROP TABLE device_marks;
ALTER TABLE outbox DROP COLUMN bytes;
