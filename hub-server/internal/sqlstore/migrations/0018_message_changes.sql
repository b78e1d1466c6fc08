-- +goose Up
-- What happens to a message after it was sent.

ALTER TABLE messages ADD COLUMN recalled_at BIGINT NOT NULL DEFAULT 0;  -- 0: it stands; else content, attachments and mentions are erased
ALTER TABLE messages ADD COLUMN recalled_by TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN edited_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;     -- how often it was edited
ALTER TABLE messages ADD COLUMN forwarded TEXT NOT NULL DEFAULT '';     -- who said it first, as JSON
ALTER TABLE messages ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;      -- number of its last change in the conversation; 0: it is as it was sent
CREATE INDEX messages_changed ON messages (session_id, changed) WHERE changed > 0;
ALTER TABLE conversation_counters ADD COLUMN last_change BIGINT NOT NULL DEFAULT 0;

CREATE TABLE message_pins (
    session_id TEXT   NOT NULL,
    message_id TEXT   NOT NULL,
    pinned_by  TEXT   NOT NULL,
    pinned_at  BIGINT NOT NULL,
    PRIMARY KEY (session_id, message_id)
);

CREATE TABLE message_reactions (
    message_id TEXT   NOT NULL,
    reaction   TEXT   NOT NULL,
    user_id    TEXT   NOT NULL,
    reacted_at BIGINT NOT NULL,
    PRIMARY KEY (message_id, reaction, user_id)
);

-- +goose Down
DROP TABLE message_reactions;
DROP TABLE message_pins;
ALTER TABLE conversation_counters DROP COLUMN last_change;
DROP INDEX messages_changed;
ALTER TABLE messages DROP COLUMN changed;
ALTER TABLE messages DROP COLUMN forwarded;
ALTER TABLE messages DROP COLUMN revision;
ALTER TABLE messages DROP COLUMN edited_at;
ALTER TABLE messages DROP COLUMN recalled_by;
ALTER TABLE messages DROP COLUMN recalled_at;
