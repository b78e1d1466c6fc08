-- +goose Up
-- Which checkpoints depend on the words of messages, and how those are found that a reader needs: by the fold's rules, or at the floor.

ALTER TABLE omni_checkpoints ADD COLUMN loose_from BIGINT NOT NULL DEFAULT 0;                 -- on words of messages from this place on,
ALTER TABLE omni_checkpoints ADD COLUMN loose_to BIGINT NOT NULL DEFAULT 9223372036854775807; -- and up to this one; 0: of none
CREATE INDEX omni_checkpoints_loose ON omni_checkpoints (session_id, loose_to) WHERE loose_to > 0;
CREATE INDEX omni_checkpoints_floor ON omni_checkpoints (session_id, place) WHERE floor;
CREATE INDEX omni_checkpoints_rules ON omni_checkpoints (session_id, rules, place);

-- +goose Down
DROP INDEX omni_checkpoints_rules;
DROP INDEX omni_checkpoints_floor;
DROP INDEX omni_checkpoints_loose;
ALTER TABLE omni_checkpoints DROP COLUMN loose_to;
ALTER TABLE omni_checkpoints DROP COLUMN loose_from;
