-- +goose Up
-- One statement set serves SQLite and PostgreSQL: BYTEA keeps bytes as they are on both, times are microseconds since 1970 (UTC).

CREATE TABLE store_counter (
    id         SMALLINT PRIMARY KEY CHECK (id = 1),
    epoch      TEXT   NOT NULL,              -- 16 hex: this life of the store
    outbox_pos BIGINT NOT NULL               -- last position given out
);

CREATE TABLE outbox (
    pos         BIGINT PRIMARY KEY,
    audience    TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    frame_type  TEXT   NOT NULL,
    payload     BYTEA,
    session_id  TEXT   NOT NULL,
    message_id  TEXT   NOT NULL,
    run_id      TEXT   NOT NULL,
    from_seq    BIGINT NOT NULL,
    to_seq      BIGINT NOT NULL,
    change      TEXT   NOT NULL,
    change_user TEXT   NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE INDEX outbox_audience ON outbox (audience, pos);

-- Membership as intervals of outbox positions: to_pos is NULL while it lasts.
CREATE TABLE member_intervals (
    session_id TEXT   NOT NULL,
    user_id    TEXT   NOT NULL,
    from_pos   BIGINT NOT NULL,
    to_pos     BIGINT,
    PRIMARY KEY (session_id, user_id, from_pos)
);
CREATE INDEX member_intervals_user ON member_intervals (user_id, session_id);

-- +goose Down
DROP TABLE member_intervals;
DROP TABLE outbox;
DROP TABLE store_counter;
