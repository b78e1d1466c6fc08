-- +goose Up
-- Who knows whom. Each of two people has a row of their own: one that was declined or blocked has none, the other may not know of it.

CREATE TABLE contacts (
    user_id    TEXT   NOT NULL,               -- whose list
    other_id   TEXT   NOT NULL,
    state      TEXT   NOT NULL,               -- friend, request_sent, request_received, blocked
    request_id TEXT   NOT NULL,               -- that it began with; '' for a block
    message    TEXT   NOT NULL,
    since      BIGINT NOT NULL,
    PRIMARY KEY (user_id, other_id)
);
CREATE INDEX contacts_request ON contacts (request_id) WHERE request_id <> '';

-- +goose Down
DROP TABLE contacts;
