-- +goose Up
-- What the fold of a conversation into OmniMessages (S1) remembers at some of its places, so that nobody folds from the beginning. All but those at
-- the floor can be made again from the record.

CREATE TABLE omni_checkpoints (
    session_id TEXT    NOT NULL,
    place      BIGINT  NOT NULL,               -- in the conversation's order: what lies up to it is folded
    rules      BIGINT  NOT NULL,               -- of the fold
    floor      BOOLEAN NOT NULL,               -- events up to it have left the store: the conversation begins behind it
    state      BYTEA   NOT NULL,
    PRIMARY KEY (session_id, place, rules)
);

-- +goose Down
DROP TABLE omni_checkpoints;
