-- +goose Up
-- The machines that run agents, who may operate them, and the agents themselves.

CREATE TABLE edges (
    id              TEXT PRIMARY KEY,
    name            TEXT   NOT NULL,
    owner_id        TEXT   NOT NULL,
    hostname        TEXT   NOT NULL,
    version         TEXT   NOT NULL,
    refused         TEXT   NOT NULL,           -- fault code while its rows cannot be taken
    credential_hash BYTEA  NOT NULL UNIQUE,    -- SHA-256 of 256 random bits
    created_at      BIGINT NOT NULL,
    last_seen_at    BIGINT,
    revoked_at      BIGINT
);
CREATE INDEX edges_owner ON edges (owner_id, created_at);

CREATE TABLE enrolments (
    token_hash BYTEA PRIMARY KEY,
    edge_id    TEXT   NOT NULL UNIQUE,
    name       TEXT   NOT NULL,
    owner_id   TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);

CREATE TABLE edge_profiles (
    edge_id     TEXT NOT NULL,
    name        TEXT NOT NULL,
    runtime     TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (edge_id, name)
);

CREATE TABLE edge_operators (
    edge_id    TEXT   NOT NULL,
    user_id    TEXT   NOT NULL,
    granted_at BIGINT NOT NULL,
    PRIMARY KEY (edge_id, user_id)
);
CREATE INDEX edge_operators_user ON edge_operators (user_id);

CREATE TABLE agents (
    id              TEXT PRIMARY KEY,
    name            TEXT   NOT NULL,
    description     TEXT   NOT NULL,
    owner_id        TEXT   NOT NULL,
    profile         TEXT   NOT NULL,
    runtime         TEXT   NOT NULL,
    edge_id         TEXT   NOT NULL,           -- '' when any edge of the owner with the profile will do
    permission_mode TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    UNIQUE (owner_id, name)
);
CREATE INDEX agents_profile ON agents (owner_id, profile);

-- +goose Down
DROP TABLE agents;
DROP TABLE edge_operators;
DROP TABLE edge_profiles;
DROP TABLE enrolments;
DROP TABLE edges;
