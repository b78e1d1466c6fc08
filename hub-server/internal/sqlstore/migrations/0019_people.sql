-- +goose Up
-- What people are told of besides questions: who mentioned or invited them, which of their runs are over. A question is told from its own
-- table.

CREATE TABLE notifications (
    id         TEXT PRIMARY KEY,
    user_id    TEXT   NOT NULL,
    type       TEXT   NOT NULL,
    subject    TEXT   NOT NULL,               -- what it is about: somebody is told of one thing once
    payload    BYTEA  NOT NULL,               -- JSON object, as people see it
    session_id TEXT   NOT NULL,               -- where it happened; '' for nowhere
    seq        BIGINT NOT NULL,               -- of the newest message there then: who has read that has seen what it is about
    read_at    BIGINT NOT NULL,               -- 0 until read
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX notifications_subject ON notifications (user_id, type, subject);
CREATE INDEX notifications_user ON notifications (user_id, created_at, id);
CREATE INDEX notifications_unread ON notifications (user_id, created_at, id) WHERE read_at = 0;

-- +goose Down
DROP TABLE notifications;
