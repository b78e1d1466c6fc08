-- +goose Up
-- At which hub process an edge's lane was taken. A hub of before says nothing of it and raises the fence: then held_fence is behind.

ALTER TABLE lane_fences ADD COLUMN hub_id TEXT NOT NULL DEFAULT '';
ALTER TABLE lane_fences ADD COLUMN held_fence BIGINT NOT NULL DEFAULT 0; -- that hub_id took

-- +goose Down
ALTER TABLE lane_fences DROP COLUMN held_fence;
ALTER TABLE lane_fences DROP COLUMN hub_id;
