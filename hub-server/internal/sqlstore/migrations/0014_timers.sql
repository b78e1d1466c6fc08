-- +goose Up
-- What is due at a time. A row is claimed by the conditional statement that takes or moves it, so of several hubs one acts.

CREATE TABLE timers (
    kind TEXT   NOT NULL,
    key  TEXT   NOT NULL,                     -- what it is about, '' for work of the whole store
    due  BIGINT NOT NULL,
    PRIMARY KEY (kind, key)
);
CREATE INDEX timers_due ON timers (kind, due);

INSERT INTO timers (kind, key, due) SELECT 'prompt.expiry', request_id, asked_at FROM prompts WHERE state = 'pending';

-- +goose Down
DROP TABLE timers;
