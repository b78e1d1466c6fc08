-- +goose Up
-- What reaches devices that are not connected. A device has one address at most; what is secret about it is sealed with a key of the keys file.

CREATE TABLE push_registrations (
    device_id  TEXT    PRIMARY KEY,
    user_id    TEXT    NOT NULL,
    channel    TEXT    NOT NULL,              -- ntfy, webpush
    host       TEXT    NOT NULL,              -- of the address, for people to recognise it
    show_text  BOOLEAN NOT NULL,
    sealed     BYTEA   NOT NULL,
    created_at BIGINT  NOT NULL,
    rest_until BIGINT  NOT NULL               -- nothing is sent before: its last push failed
);
CREATE INDEX push_registrations_user ON push_registrations (user_id, created_at);

-- One row for each device that was to be told of something, made in the transaction of what there is to tell. It is what people are told about it.
CREATE TABLE push_deliveries (
    notification_id TEXT    NOT NULL,
    device_id       TEXT    NOT NULL,
    user_id         TEXT    NOT NULL,
    channel         TEXT    NOT NULL,
    type            TEXT    NOT NULL,         -- of the notification
    session_id      TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    run_id          TEXT    NOT NULL,
    state           TEXT    NOT NULL,         -- pending, sent, suppressed, withdrawn, failed, clearing, cleared
    code            TEXT    NOT NULL,
    status          BIGINT  NOT NULL,         -- of HTTP, the last one; 0 for none
    tries           BIGINT  NOT NULL,
    claimed         BOOLEAN NOT NULL,         -- a hub is at it, or died at it
    due             BIGINT  NOT NULL,         -- 0: nothing is left to be done
    active_device   TEXT    NOT NULL,         -- that the person looked at instead
    active_session  TEXT    NOT NULL,
    created_at      BIGINT  NOT NULL,
    sent_at         BIGINT  NOT NULL,         -- 0 until the service took it
    changed_at      BIGINT  NOT NULL,
    PRIMARY KEY (notification_id, device_id)
);
CREATE INDEX push_deliveries_due ON push_deliveries (due, notification_id, device_id) WHERE due > 0;
CREATE INDEX push_deliveries_device ON push_deliveries (device_id, due, notification_id) WHERE due > 0;
CREATE INDEX push_deliveries_age ON push_deliveries (created_at);

-- +goose Down
DROP TABLE push_deliveries;
DROP TABLE push_registrations;
