-- +goose Up
-- People and their devices. Secrets are kept as SHA-256 (tokens, 256 random bits) or argon2id (passwords), never as themselves.

CREATE TABLE users (
    id            TEXT PRIMARY KEY,
    name          TEXT   NOT NULL UNIQUE,
    display_name  TEXT   NOT NULL,
    role          TEXT   NOT NULL,
    password_hash TEXT   NOT NULL,
    created_at    BIGINT NOT NULL
);

CREATE TABLE invitations (
    id         TEXT PRIMARY KEY,
    token_hash BYTEA  NOT NULL UNIQUE,
    created_by TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT,
    used_by    TEXT   NOT NULL
);

-- A device and its refresh family live and end together.
CREATE TABLE devices (
    id           TEXT PRIMARY KEY,
    user_id      TEXT   NOT NULL,
    type         TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    family       TEXT   NOT NULL UNIQUE,
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,              -- moved forward by each rotation
    ended_at     BIGINT,
    end_reason   TEXT   NOT NULL
);
CREATE INDEX devices_user ON devices (user_id, created_at);

CREATE TABLE refresh_tokens (
    token_hash  BYTEA PRIMARY KEY,
    family      TEXT   NOT NULL,
    issued_at   BIGINT NOT NULL,
    replaced_at BIGINT,
    successor   BYTEA                          -- the next token, sealed under this one: only its holder can open it
);
CREATE INDEX refresh_tokens_family ON refresh_tokens (family, replaced_at);

-- Idempotency-Key of creating requests. The row commits with its effect.
CREATE TABLE attempts (
    user_id      TEXT   NOT NULL,
    route        TEXT   NOT NULL,
    attempt_key  TEXT   NOT NULL,
    request_hash BYTEA  NOT NULL,
    answer       BYTEA  NOT NULL,              -- sealed, because some answers hold a secret that is shown once
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (user_id, route, attempt_key)
);
CREATE INDEX attempts_age ON attempts (created_at);

-- +goose Down
DROP TABLE attempts;
DROP TABLE refresh_tokens;
DROP TABLE devices;
DROP TABLE invitations;
DROP TABLE users;
