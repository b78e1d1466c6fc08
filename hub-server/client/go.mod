module github.com/switchyard-dev/switchyard/hub-server/client

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/oapi-codegen/runtime v1.9.0
	github.com/switchyard-dev/switchyard/shared v0.0.0
)

replace github.com/switchyard-dev/switchyard/shared => ../../shared
