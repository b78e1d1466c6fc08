-- +goose Up
-- The order of each conversation, messages and events together: a row for what was committed together. Places have no hole; those that no row
-- covers were taken before this table was there, or by a hub from before it, and are entered when somebody wants to read them.

CREATE TABLE conversation_order (
    session_id TEXT   NOT NULL,
    place      BIGINT NOT NULL,               -- of the first one
    places     BIGINT NOT NULL,               -- how many
    run_id     TEXT   NOT NULL,               -- whose events they are; '' for messages
    seq        BIGINT NOT NULL,               -- of the first one: in the run's log, or messages.seq; 0: nothing is left of them
    PRIMARY KEY (session_id, place)
);

-- +goose Down
DROP TABLE conversation_order;
