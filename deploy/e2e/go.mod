module github.com/switchyard-dev/switchyard/deploy/e2e

go 1.26.0

require (
	github.com/switchyard-dev/switchyard/hub-server/client v0.0.0
	github.com/switchyard-dev/switchyard/shared v0.0.0
)

replace (
	github.com/switchyard-dev/switchyard/hub-server/client => ../../hub-server/client
	github.com/switchyard-dev/switchyard/shared => ../../shared
)
