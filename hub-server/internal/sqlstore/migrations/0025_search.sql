-- +goose Up
-- What messages say, by their words: a projection of messages that backups leave out and a hub makes anew where it is missing. Up to 63 messages
-- that follow one another in a conversation are a block; a posting says which of them have a term, a bit for each.
CREATE TABLE search_blocks (
    block_id   BIGINT PRIMARY KEY,            -- dense from 1
    session_id TEXT   NOT NULL,
    number     BIGINT NOT NULL,               -- of the block in its conversation: messages 63 * number and on
    oldest     BIGINT NOT NULL,               -- when the first of its messages was sent …
    newest     BIGINT NOT NULL                -- … and the last: they need not be in the order of their numbers
);
CREATE UNIQUE INDEX search_blocks_session ON search_blocks (session_id, number);
CREATE INDEX search_blocks_newest ON search_blocks (newest, block_id);
CREATE TABLE search_postings (
    term     BIGINT NOT NULL,                 -- hash of a word
    block_id BIGINT NOT NULL,
    bits     BIGINT NOT NULL,
    PRIMARY KEY (term, block_id)
);
CREATE INDEX search_postings_block ON search_postings (block_id);
-- How far it has come. The row is made by the first hub that looks for it.
CREATE TABLE search_progress (
    id           SMALLINT PRIMARY KEY CHECK (id = 1),
    step         BIGINT  NOT NULL,            -- raised with each change: of several hubs one makes it
    place        BIGINT  NOT NULL,            -- in the outbox: everything up to it is in; trimming stops behind it
    fill_session TEXT    NOT NULL,            -- likewise of the messages that were there before
    fill_seq     BIGINT  NOT NULL,
    filled       BOOLEAN NOT NULL,
    blocks       BIGINT  NOT NULL             -- last number given out
);

-- +goose Down
DROP TABLE search_progress;
DROP TABLE search_postings;
DROP TABLE search_blocks;
