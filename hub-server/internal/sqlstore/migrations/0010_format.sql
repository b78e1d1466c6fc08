-- +goose Up
-- How rows are written. A hub that knows only lower numbers must not read or write what comes after it was raised.

ALTER TABLE store_counter ADD COLUMN format BIGINT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE store_counter DROP COLUMN format;
