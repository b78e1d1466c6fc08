-- +goose Up
-- What people have brought as traces: it counts among their files, also when the conversation is gone.
CREATE TABLE imports (
    session_id TEXT   PRIMARY KEY,
    user_id    TEXT   NOT NULL, -- who brought it
    bytes      BIGINT NOT NULL  -- of its lines
);
CREATE INDEX imports_user ON imports (user_id);

-- +goose Down
DROP TABLE imports;
