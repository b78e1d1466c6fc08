-- +goose Up
-- What agents ask people, and what belongs to a message beside its content.

-- Kept up from the run's log, in the transaction that appends to it.
CREATE TABLE prompts (
    request_id   TEXT    PRIMARY KEY,         -- made by the edge, unique for ever
    run_id       TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    asked        BYTEA   NOT NULL,            -- payload of run.prompt.requested, byte for byte
    digest       TEXT    NOT NULL,
    event_seq    BIGINT  NOT NULL,            -- of run.prompt.requested
    asked_at     BIGINT  NOT NULL,
    state        TEXT    NOT NULL,            -- pending, answered, cancelled
    outlived     BOOLEAN NOT NULL,            -- the process was ended before it had an answer
    decided_by   TEXT    NOT NULL,            -- person, policy, bridge; '' until answered
    decision     TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    updated_input BYTEA,
    user_id      TEXT    NOT NULL,            -- of the person
    device_id    TEXT    NOT NULL,
    answered_at  BIGINT  NOT NULL,
    delivery_id  TEXT    NOT NULL,            -- of the command that took the answer to the edge
    delivered_at BIGINT  NOT NULL             -- 0 until the agent went on with it
);
CREATE INDEX prompts_run ON prompts (run_id, event_seq);
CREATE INDEX prompts_asked ON prompts (asked_at, run_id, event_seq);
CREATE INDEX prompts_pending ON prompts (asked_at, run_id, event_seq) WHERE state = 'pending';

ALTER TABLE runs ADD COLUMN continues_run_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN process_ended_at BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX runs_continues ON runs (continues_run_id) WHERE continues_run_id <> '';
CREATE INDEX runs_abandoned ON runs (run_id) WHERE process_ended_at > 0 AND ended_at = 0;

ALTER TABLE messages ADD COLUMN attachments TEXT NOT NULL DEFAULT ''; -- a JSON list, '' for none

-- +goose Down
ALTER TABLE messages DROP COLUMN attachments;
DROP INDEX runs_abandoned;
DROP INDEX runs_continues;
ALTER TABLE runs DROP COLUMN process_ended_at;
ALTER TABLE runs DROP COLUMN continues_run_id;
DROP TABLE prompts;
