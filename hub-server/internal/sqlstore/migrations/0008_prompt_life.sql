-- +goose Up
-- Questions of every kind, their time limits, and what people are told of them.

ALTER TABLE prompts ADD COLUMN response BYTEA;                        -- what was said beside the decision, NULL for nothing
ALTER TABLE prompts ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0;  -- by a limit of its own; 0 for none
ALTER TABLE prompts ADD COLUMN by_hub BOOLEAN NOT NULL DEFAULT FALSE; -- asked by the hub: no process waits for the answer
CREATE INDEX prompts_expiring ON prompts (expires_at) WHERE state = 'pending' AND expires_at > 0;

ALTER TABLE outbox ADD COLUMN request_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE outbox DROP COLUMN request_id;
DROP INDEX prompts_expiring;
ALTER TABLE prompts DROP COLUMN by_hub;
ALTER TABLE prompts DROP COLUMN expires_at;
ALTER TABLE prompts DROP COLUMN response;
