-- +goose Up
-- Files of people. Each has parts of its own in blob_chunks, so that its end is nobody else's.

CREATE TABLE attachments (
    id         TEXT   PRIMARY KEY,
    owner_id   TEXT   NOT NULL,
    upload_id  BIGINT NOT NULL, -- of its parts
    sha256     TEXT   NOT NULL,
    size       BIGINT NOT NULL,
    filename   TEXT   NOT NULL,
    mime_type  TEXT   NOT NULL,
    created_at BIGINT NOT NULL, -- or uploaded once more
    sent       BIGINT NOT NULL DEFAULT 0 -- 1 once a message has had it
);
CREATE UNIQUE INDEX attachments_same ON attachments (owner_id, sha256, filename, mime_type);
CREATE INDEX attachments_unsent ON attachments (created_at) WHERE sent = 0;

-- Which messages have it. Who may read one of them may read the file.
CREATE TABLE attachment_messages (
    attachment_id TEXT NOT NULL,
    message_id    TEXT NOT NULL,
    PRIMARY KEY (attachment_id, message_id)
);

-- +goose Down
DROP TABLE attachment_messages;
DROP TABLE attachments;
