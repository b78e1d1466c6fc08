-- +goose Up
-- Ended runs leave: their events go to archives, a file for each stretch of a log, and the run stays.

ALTER TABLE runs ADD COLUMN floor_seq BIGINT NOT NULL DEFAULT 0; -- the events up to it are in archives
ALTER TABLE runs ADD COLUMN log_pos BIGINT NOT NULL DEFAULT 0;   -- of an ended run: no row of the outbox behind it has events of it; 0: not known yet
UPDATE runs SET log_pos = (SELECT outbox_pos FROM store_counter WHERE id = 1) WHERE ended_at > 0;
CREATE INDEX runs_leaving ON runs (log_pos, run_id) WHERE ended_at > 0 AND floor_seq < last_event_seq;

ALTER TABLE store_counter ADD COLUMN log_bytes BIGINT NOT NULL DEFAULT 0; -- payloads of all events that are kept
UPDATE store_counter SET log_bytes = (SELECT CAST(COALESCE(SUM(length(payload)), 0) AS BIGINT) FROM run_events);

CREATE TABLE archives (
    run_id        TEXT   NOT NULL,
    from_seq      BIGINT NOT NULL,
    to_seq        BIGINT NOT NULL,
    state         TEXT   NOT NULL,            -- writing: a hub makes the file; leaving: it is on disk, events are being removed; gone
    hub_id        TEXT   NOT NULL,            -- who writes, or has written
    file          TEXT   NOT NULL,            -- name in HUB_ARCHIVE_DIR; '' until it is there
    sha256        TEXT   NOT NULL,            -- of its content
    events        BIGINT NOT NULL,
    payload_bytes BIGINT NOT NULL,
    archived_at   BIGINT NOT NULL,
    PRIMARY KEY (run_id, from_seq)
);
CREATE INDEX archives_leaving ON archives (run_id, from_seq) WHERE state = 'leaving';

-- +goose Down
DROP TABLE archives;
ALTER TABLE store_counter DROP COLUMN log_bytes;
DROP INDEX runs_leaving;
ALTER TABLE runs DROP COLUMN log_pos;
ALTER TABLE runs DROP COLUMN floor_seq;
