-- +goose Up
-- What is asked of the conversations of one person is read from the index alone: some are in very many.
DROP INDEX member_intervals_user;
CREATE INDEX member_intervals_user ON member_intervals (user_id, session_id, from_pos, to_pos);

-- +goose Down
DROP INDEX member_intervals_user;
CREATE INDEX member_intervals_user ON member_intervals (user_id, session_id);
