-- +goose Up
-- Hub processes that live, so that a new format is switched on only when each of them reads it.

CREATE TABLE hubs (
    hub_id       TEXT   PRIMARY KEY,          -- random, of one process
    started_at   BIGINT NOT NULL,
    seen_at      BIGINT NOT NULL,             -- for people; nothing is decided by it
    beat         BIGINT NOT NULL,             -- raised with every sign of life
    reads_format BIGINT NOT NULL
);

-- +goose Down
DROP TABLE hubs;
