-- +goose Up
-- Conversations. A member's id is the id of a user or of an agent.

CREATE TABLE sessions (
    id         TEXT PRIMARY KEY,
    type       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    owner_id   TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

-- The narrow row that every writer of a conversation takes once per transaction. last_seq numbers messages; last_place orders
-- messages and run events together.
CREATE TABLE conversation_counters (
    session_id TEXT PRIMARY KEY,
    last_seq   BIGINT NOT NULL,
    last_place BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE session_members (
    session_id    TEXT   NOT NULL,
    member_id     TEXT   NOT NULL,
    role          TEXT   NOT NULL,
    last_read_seq BIGINT NOT NULL,
    joined_at     BIGINT NOT NULL,
    left_at       BIGINT,                      -- NULL while a member
    PRIMARY KEY (session_id, member_id)
);
CREATE INDEX session_members_member ON session_members (member_id, session_id);

CREATE TABLE messages (
    id            TEXT PRIMARY KEY,
    session_id    TEXT   NOT NULL,
    seq           BIGINT NOT NULL,
    place         BIGINT NOT NULL,
    client_msg_id TEXT   NOT NULL,             -- '' for agents
    sender_id     TEXT   NOT NULL,
    content_type  TEXT   NOT NULL,
    content       BYTEA  NOT NULL,
    mentions      TEXT   NOT NULL,             -- agent ids, separated by spaces
    reply_to      TEXT   NOT NULL,
    task_ids      TEXT   NOT NULL,             -- runs it started, separated by spaces
    created_at    BIGINT NOT NULL,
    UNIQUE (session_id, seq)
);
CREATE UNIQUE INDEX messages_client ON messages (session_id, client_msg_id) WHERE client_msg_id <> '';

-- +goose Down
DROP TABLE messages;
DROP TABLE session_members;
DROP TABLE conversation_counters;
DROP TABLE sessions;
