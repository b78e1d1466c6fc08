-- +goose Up
-- The record: what edges reported, numbered once, and what the hub asked of them.

-- A lane is the journal of one (edge, incarnation).
CREATE TABLE lanes (
    lane_id     BIGINT PRIMARY KEY,           -- random: a narrow name for the pair
    edge_id     TEXT   NOT NULL,
    incarnation TEXT   NOT NULL,
    watermark   BIGINT NOT NULL,              -- highest committed producer_seq
    chain       BYTEA  NOT NULL,              -- SHA-256 chain value after it
    opened_at   BIGINT NOT NULL,
    UNIQUE (edge_id, incarnation)
);

-- Who may commit an edge's rows: the connection that took the fence last.
CREATE TABLE lane_fences (
    edge_id    TEXT   PRIMARY KEY,
    fence      BIGINT NOT NULL,
    lane_id    BIGINT NOT NULL,
    boot_nonce TEXT   NOT NULL,
    taken_at   BIGINT NOT NULL
);

-- Rows that an edge no longer has and the hub never got, or lost.
CREATE TABLE lane_gaps (
    lane_id     BIGINT NOT NULL,
    from_seq    BIGINT NOT NULL,
    to_seq      BIGINT NOT NULL,
    recorded_at BIGINT NOT NULL,
    PRIMARY KEY (lane_id, from_seq)
);

CREATE TABLE runs (
    run_id          TEXT    PRIMARY KEY,
    parent_run_id   TEXT    NOT NULL,
    root_run_id     TEXT    NOT NULL,
    session_id      TEXT    NOT NULL,
    agent_id        TEXT    NOT NULL,
    agent_name      TEXT    NOT NULL,
    agent_checksum  TEXT    NOT NULL,
    edge_id         TEXT    NOT NULL,         -- '' until one was chosen
    lease           BIGINT  NOT NULL,         -- raised by each dispatch
    trigger_id      TEXT    NOT NULL,
    requested_by    TEXT    NOT NULL,
    trace_id        TEXT    NOT NULL,
    place_owner     TEXT    NOT NULL,         -- who may execute it: this owner's edges …
    place_edge      TEXT    NOT NULL,         -- … or only this one
    place_profile   TEXT    NOT NULL,
    place_runtime   TEXT    NOT NULL,
    dispatch        BYTEA   NOT NULL,         -- body of the start command, byte for byte
    state           TEXT    NOT NULL,
    last_event_seq  BIGINT  NOT NULL,
    error_code      TEXT    NOT NULL,
    error_message   TEXT    NOT NULL,
    error_retryable BOOLEAN NOT NULL,
    said_id         TEXT    NOT NULL,         -- the agent's last whole message, ready to become the final one
    said            TEXT    NOT NULL,         -- its text
    final_message   TEXT    NOT NULL,
    created_at      BIGINT  NOT NULL,
    started_at      BIGINT  NOT NULL,
    ended_at        BIGINT  NOT NULL
);
CREATE INDEX runs_session ON runs (session_id, created_at, run_id);
CREATE INDEX runs_requester ON runs (requested_by, created_at, run_id);
CREATE INDEX runs_open ON runs (edge_id) WHERE ended_at = 0;
CREATE INDEX runs_waiting ON runs (created_at, run_id) WHERE state = 'waiting_edge';

CREATE TABLE run_events (
    run_id           TEXT     NOT NULL,
    event_seq        BIGINT   NOT NULL,
    place            BIGINT   NOT NULL,       -- in the conversation's order
    lane_id          BIGINT,                  -- NULL for an event of the hub's own
    producer_seq     BIGINT,
    event_id         TEXT     NOT NULL,
    event_type       TEXT     NOT NULL,
    wire_type        TEXT     NOT NULL,
    occurred_at      BIGINT   NOT NULL,
    recorded_at      BIGINT   NOT NULL,
    payload          BYTEA    NOT NULL,       -- byte for byte as the producer encoded it
    payload_checksum TEXT     NOT NULL,
    schema_version   SMALLINT NOT NULL,
    trace_id         TEXT     NOT NULL,
    span_id          TEXT     NOT NULL,
    late             BOOLEAN  NOT NULL,
    PRIMARY KEY (run_id, event_seq)
);
CREATE UNIQUE INDEX run_events_producer ON run_events (lane_id, producer_seq);
CREATE UNIQUE INDEX run_events_terminal ON run_events (run_id)
    WHERE event_type IN ('run.completed', 'run.failed', 'run.cancelled', 'run.interrupted');

-- Rows that could not be applied, as they came.
CREATE TABLE quarantine (
    lane_id      BIGINT NOT NULL,
    producer_seq BIGINT NOT NULL,
    run_id       TEXT   NOT NULL,             -- as the row claims, '' if it does not say
    code         TEXT   NOT NULL,
    row_bytes    BYTEA  NOT NULL,
    recorded_at  BIGINT NOT NULL,
    PRIMARY KEY (lane_id, producer_seq)
);

CREATE TABLE edge_commands (
    delivery_id    TEXT   PRIMARY KEY,
    edge_id        TEXT   NOT NULL,
    place          BIGINT NOT NULL,           -- order per edge
    run_id         TEXT   NOT NULL,
    kind           TEXT   NOT NULL,
    lease          BIGINT NOT NULL,
    body           BYTEA  NOT NULL,
    signature      TEXT   NOT NULL,
    state          TEXT   NOT NULL,           -- pending, sent, done, withdrawn
    receipt_status TEXT   NOT NULL,
    receipt_code   TEXT   NOT NULL,
    receipt_detail TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    receipt_at     BIGINT NOT NULL,
    UNIQUE (edge_id, place)
);
CREATE INDEX edge_commands_open ON edge_commands (edge_id, place) WHERE state IN ('pending', 'sent');
CREATE INDEX edge_commands_run ON edge_commands (run_id);

-- Bytes beside the log, in rows of at most 1 MiB. An upload becomes a blob when all of it has arrived and its hash is right.
CREATE TABLE blob_uploads (
    upload_id  BIGINT PRIMARY KEY,            -- random
    started_at BIGINT NOT NULL
);
CREATE TABLE blobs (
    sha256     TEXT   PRIMARY KEY,
    upload_id  BIGINT NOT NULL,
    size       BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE blob_chunks (
    upload_id BIGINT  NOT NULL,
    part      INTEGER NOT NULL,
    data      BYTEA   NOT NULL,
    PRIMARY KEY (upload_id, part)
);
-- Which edges have shown that they hold the bytes: knowing a hash is not having its blob.
CREATE TABLE edge_blobs (
    edge_id TEXT NOT NULL,
    sha256  TEXT NOT NULL,
    PRIMARY KEY (edge_id, sha256)
);

CREATE TABLE artifacts (
    artifact_id  TEXT   PRIMARY KEY,
    run_id       TEXT   NOT NULL,
    event_seq    BIGINT NOT NULL,
    filename     TEXT   NOT NULL,
    content_type TEXT   NOT NULL,
    size         BIGINT NOT NULL,
    sha256       TEXT   NOT NULL,
    created_at   BIGINT NOT NULL
);
CREATE INDEX artifacts_run ON artifacts (run_id, event_seq);

-- +goose Down
DROP TABLE artifacts;
DROP TABLE edge_blobs;
DROP TABLE blob_chunks;
DROP TABLE blobs;
DROP TABLE blob_uploads;
DROP TABLE edge_commands;
DROP TABLE quarantine;
DROP TABLE run_events;
DROP TABLE runs;
DROP TABLE lane_gaps;
DROP TABLE lane_fences;
DROP TABLE lanes;
