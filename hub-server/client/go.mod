module github.com/switchyard-dev/switchyard/hub-server/client

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/oapi-codegen/runtime v1.9.0
	github.com/switchyard-dev/switchyard/shared v0.0.0
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
)

replace github.com/switchyard-dev/switchyard/shared => ../../shared
