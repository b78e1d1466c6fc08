-- +goose Up
-- Who did what to the security of the installation. Entries commit with their acts; seals follow within seconds.

ALTER TABLE store_counter ADD COLUMN audit_seq BIGINT NOT NULL DEFAULT 0; -- last number given out

CREATE TABLE audit_entries (
    seq     BIGINT PRIMARY KEY,               -- dense from 1
    at      BIGINT NOT NULL,
    act     TEXT   NOT NULL,
    user_id TEXT   NOT NULL,                  -- '' for whoever runs the hub
    target  TEXT   NOT NULL,
    detail  TEXT   NOT NULL
);

-- A seal covers first_seq to last_seq and continues the hash chain of the one before.
CREATE TABLE audit_seals (
    first_seq BIGINT PRIMARY KEY,
    last_seq  BIGINT NOT NULL,
    chain     BYTEA  NOT NULL,
    signature BYTEA  NOT NULL                 -- with the receipt key of HUB_KEYS_FILE
);

-- +goose Down
DROP TABLE audit_seals;
DROP TABLE audit_entries;
ALTER TABLE store_counter DROP COLUMN audit_seq;
