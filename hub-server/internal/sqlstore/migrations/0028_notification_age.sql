-- +goose Up
-- Notifications that were read leave after a time, the one that was read first in front.

CREATE INDEX notifications_read ON notifications (read_at) WHERE read_at <> 0;

-- +goose Down
DROP INDEX notifications_read;
