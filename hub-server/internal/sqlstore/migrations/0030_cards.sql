-- +goose Up
-- What cards tell of conversations (S0), made once. A trace goes on in the transaction that appends its frames; of several hubs one appends them.
-- Backups leave all of it out: with the next life of a store, traces begin anew.

CREATE TABLE card_traces (
    session_id TEXT   PRIMARY KEY,
    trace_id   TEXT   NOT NULL UNIQUE,
    epoch      TEXT   NOT NULL,               -- of the store, when it was made
    seq        BIGINT NOT NULL,               -- of the newest frame
    floor_seq  BIGINT NOT NULL,               -- the frames up to it have left
    place      BIGINT NOT NULL,               -- in the conversation's order: what lies up to it is told
    rules      BIGINT NOT NULL,               -- by which the newest frames are told
    state      BYTEA  NOT NULL                -- of the fold
);

CREATE TABLE card_frames (
    trace_id  TEXT   NOT NULL,
    last_seq  BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    place     BIGINT NOT NULL,                -- how far they tell the conversation
    frames    BYTEA  NOT NULL,                -- a line each
    PRIMARY KEY (trace_id, last_seq)
);

-- Where the question of a request is among the frames.
CREATE TABLE card_prompts (
    request_id TEXT   PRIMARY KEY,
    trace_id   TEXT   NOT NULL,
    seq        BIGINT NOT NULL
);
CREATE INDEX card_prompts_trace ON card_prompts (trace_id, seq);

-- +goose Down
DROP TABLE card_prompts;
DROP TABLE card_frames;
DROP TABLE card_traces;
