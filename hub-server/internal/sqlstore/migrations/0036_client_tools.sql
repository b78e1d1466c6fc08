-- +goose Up
-- Tools that a person's clients carry out for agents of a conversation (S0 session.create): as they were declared last.
CREATE TABLE client_tools (
    session_id TEXT  NOT NULL,
    user_id    TEXT  NOT NULL,
    tools      BYTEA NOT NULL,               -- JSON: a list of wire.ClientTool
    PRIMARY KEY (session_id, user_id)
);

-- How many calls of such tools a run waits for: one that waits for none is spared the search for them.
ALTER TABLE runs ADD COLUMN client_calls BIGINT NOT NULL DEFAULT 0;

-- A result names the call as the agent does, or the card of the call.
ALTER TABLE prompts ADD COLUMN tool_call_id TEXT NOT NULL DEFAULT '';
CREATE INDEX prompts_tool_call ON prompts (tool_call_id) WHERE tool_call_id <> '';
ALTER TABLE card_prompts ADD COLUMN card_id TEXT NOT NULL DEFAULT '';
CREATE INDEX card_prompts_card ON card_prompts (trace_id, card_id) WHERE card_id <> '';

-- +goose Down
DROP INDEX card_prompts_card;
ALTER TABLE card_prompts DROP COLUMN card_id;
DROP INDEX prompts_tool_call;
ALTER TABLE prompts DROP COLUMN tool_call_id;
ALTER TABLE runs DROP COLUMN client_calls;
DROP TABLE client_tools;
