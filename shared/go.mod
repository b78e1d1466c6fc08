module github.com/switchyard-dev/switchyard/shared

go 1.26.0

require (
	github.com/google/uuid v1.6.0
	github.com/prometheus/client_golang v1.25.0
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)
