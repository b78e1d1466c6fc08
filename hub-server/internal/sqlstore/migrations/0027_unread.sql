-- +goose Up
-- How many of the messages behind a read mark were taken back.
CREATE INDEX messages_recalled ON messages (session_id, seq, sender_id) WHERE recalled_at > 0;

-- +goose Down
DROP INDEX messages_recalled;
