-- +goose Up
-- A conversation that was brought as a trace: it is there to be read.
ALTER TABLE sessions ADD COLUMN read_only BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE sessions DROP COLUMN read_only;
