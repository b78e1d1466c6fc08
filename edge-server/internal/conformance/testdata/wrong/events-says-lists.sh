#!/bin/sh
# breaks: fact.payload
# with: events
# The payload of a fact is a list.
read -r turn
printf '{"type":"run.agent.todo","payload":["x"]}\n'
printf '{"type":"done","answer":"done"}\n'
