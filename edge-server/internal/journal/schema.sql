-- Format 1 of an edge journal. Times are microseconds since 1970, UTC.

-- One row: the numbering of this file.
CREATE TABLE lane (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    incarnation TEXT    NOT NULL,
    boot_nonce  TEXT    NOT NULL,
    floor       INTEGER NOT NULL, -- lowest row that is kept; head + 1 when none is
    floor_chain BLOB    NOT NULL, -- chain value before row floor
    receipt     BLOB              -- wire.CommitReceipt of the highest committed row, as JSON
) STRICT;

CREATE TABLE rows (
    seq   INTEGER PRIMARY KEY, -- producer_seq
    run   TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    chain BLOB    NOT NULL,    -- chain value after this row
    bytes BLOB    NOT NULL     -- the envelope, final
) STRICT;
CREATE INDEX rows_of_run ON rows (run, seq);

-- Committed rows of live runs from before a new incarnation: no longer sent, but a run's state is rebuilt from them.
CREATE TABLE past_rows (
    run   TEXT    NOT NULL,
    n     INTEGER NOT NULL,
    bytes BLOB    NOT NULL,
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- Files in the blobs folder that rows name.
CREATE TABLE blobs (
    sha256   TEXT    PRIMARY KEY,
    size     INTEGER NOT NULL,
    uploaded INTEGER NOT NULL DEFAULT 0 -- 1: the hub has it
) STRICT, WITHOUT ROWID;
CREATE TABLE row_blobs (
    seq    INTEGER NOT NULL,
    sha256 TEXT    NOT NULL,
    PRIMARY KEY (seq, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX rows_of_blob ON row_blobs (sha256);

-- Every command that was answered, with its answer.
CREATE TABLE commands (
    delivery TEXT    PRIMARY KEY,
    run      TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    command  BLOB    NOT NULL, -- wire.Command as JSON, signature included
    receipt  BLOB    NOT NULL  -- wire.CommandReceipt as JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX commands_of_run ON commands (run);

CREATE TABLE runs (
    run       TEXT    PRIMARY KEY,
    place     INTEGER NOT NULL UNIQUE, -- order of admission
    delivery  TEXT    NOT NULL,        -- the start command
    lease     INTEGER NOT NULL,        -- the highest that was seen
    phase     TEXT    NOT NULL,
    nonce     TEXT    NOT NULL DEFAULT '',
    pid       INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0, -- 1: a cancel was accepted
    ended_at  INTEGER                     -- NULL while it has no terminal
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_open ON runs (place) WHERE ended_at IS NULL;

-- The agents' own names of conversations (S4 session_id).
CREATE TABLE agent_sessions (
    session TEXT NOT NULL,
    agent   TEXT NOT NULL,
    profile TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (session, agent, profile)
) STRICT, WITHOUT ROWID;
