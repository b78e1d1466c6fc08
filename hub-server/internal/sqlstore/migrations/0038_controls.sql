-- +goose Up
-- What an edge understands besides runs: commands to a run at work and people's approval modes; and what runs of a profile can do: words with a
-- space between. A run that needs such a thing, or has a mode, goes to no other edge.
ALTER TABLE edges ADD COLUMN controls BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE edge_profiles ADD COLUMN controls TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN place_needs TEXT NOT NULL DEFAULT '';

-- What agents may do without asking in the runs that a member asks for; '' leaves it to their profiles. A run has that of who asked, as it is now.
ALTER TABLE session_members ADD COLUMN approval_mode TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN approval_mode TEXT NOT NULL DEFAULT '';

-- What a command says to a run, as long as it has not left it can be taken back.
ALTER TABLE edge_commands ADD COLUMN steer_id TEXT NOT NULL DEFAULT '';
CREATE INDEX edge_commands_steer ON edge_commands (steer_id) WHERE steer_id <> '';

-- Which runs of a conversation are not over.
CREATE INDEX runs_active ON runs (session_id, created_at) WHERE ended_at = 0;

-- +goose Down
DROP INDEX runs_active;
DROP INDEX edge_commands_steer;
ALTER TABLE edge_commands DROP COLUMN steer_id;
ALTER TABLE runs DROP COLUMN approval_mode;
ALTER TABLE session_members DROP COLUMN approval_mode;
ALTER TABLE runs DROP COLUMN place_needs;
ALTER TABLE edge_profiles DROP COLUMN controls;
ALTER TABLE edges DROP COLUMN controls;
