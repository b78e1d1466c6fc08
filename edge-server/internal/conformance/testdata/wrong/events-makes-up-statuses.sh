#!/bin/sh
# breaks: fact.payload
# with: events
# The status of a step is a word that no step has.
read -r turn
printf '{"type":"run.agent.plan_step","payload":{"plan_id":"p","step_id":"s","status":"done"}}\n'
printf '{"type":"done","answer":"done"}\n'
