-- +goose Up
-- What conversations were told by the hub and still lasts: each topic once (S0 10.9).
CREATE TABLE told_topics (
	session_id TEXT NOT NULL,
	topic      TEXT NOT NULL,
	run_id     TEXT NOT NULL, -- in whose log the notice is
	told_at    BIGINT NOT NULL,
	PRIMARY KEY (session_id, topic)
);

-- +goose Down
DROP TABLE told_topics;
