module github.com/switchyard-dev/switchyard/examples/agents/golang

go 1.26.0
