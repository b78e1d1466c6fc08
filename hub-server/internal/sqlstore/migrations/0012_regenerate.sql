-- +goose Up
-- Which run a person asked to have once more.

ALTER TABLE runs ADD COLUMN regenerates_run_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE runs DROP COLUMN regenerates_run_id;
