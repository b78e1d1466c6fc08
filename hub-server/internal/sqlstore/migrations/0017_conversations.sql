-- +goose Up
-- Conversations as people expect them. Everything has a default: a hub of before goes on writing without it.

ALTER TABLE sessions ADD COLUMN avatar_url TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN announcement TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN info_version BIGINT NOT NULL DEFAULT 0; -- counts changes of name, avatar, announcement and owner
ALTER TABLE sessions ADD COLUMN roster_version BIGINT NOT NULL DEFAULT 0; -- counts joins and leaves
ALTER TABLE sessions ADD COLUMN dissolved_at BIGINT;                    -- NULL while it lives
ALTER TABLE sessions ADD COLUMN pair TEXT NOT NULL DEFAULT '';          -- both members of a private one, '' for others

-- What each member wants to see of it.
ALTER TABLE session_members ADD COLUMN pinned BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE session_members ADD COLUMN archived BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE session_members ADD COLUMN muted BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE session_members ADD COLUMN settings_version BIGINT NOT NULL DEFAULT 0;

-- Of several private conversations of one pair, the first is the one that is found.
UPDATE sessions SET pair = (SELECT MIN(m.member_id) || ' ' || MAX(m.member_id) FROM session_members m WHERE m.session_id = sessions.id)
 WHERE type = 'private' AND 2 = (SELECT COUNT(*) FROM session_members m WHERE m.session_id = sessions.id);
CREATE INDEX sessions_pairs ON sessions (pair);
UPDATE sessions SET pair = '' WHERE pair <> '' AND EXISTS (
    SELECT 1 FROM sessions first WHERE first.pair = sessions.pair
       AND (first.created_at < sessions.created_at OR (first.created_at = sessions.created_at AND first.id < sessions.id)));
DROP INDEX sessions_pairs;
CREATE UNIQUE INDEX sessions_pair ON sessions (pair) WHERE pair <> '';

-- How many of the messages behind a read mark are one's own.
CREATE INDEX messages_sender ON messages (session_id, sender_id, seq);

-- +goose Down
DROP INDEX messages_sender;
DROP INDEX sessions_pair;
ALTER TABLE session_members DROP COLUMN settings_version;
ALTER TABLE session_members DROP COLUMN muted;
ALTER TABLE session_members DROP COLUMN archived;
ALTER TABLE session_members DROP COLUMN pinned;
ALTER TABLE sessions DROP COLUMN pair;
ALTER TABLE sessions DROP COLUMN dissolved_at;
ALTER TABLE sessions DROP COLUMN roster_version;
ALTER TABLE sessions DROP COLUMN info_version;
ALTER TABLE sessions DROP COLUMN announcement;
ALTER TABLE sessions DROP COLUMN avatar_url;
