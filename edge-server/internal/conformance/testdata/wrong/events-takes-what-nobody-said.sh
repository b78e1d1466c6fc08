#!/bin/sh
# breaks: steer.known
# with: events
# It takes a steer that nobody has said.
read -r turn
printf '{"type":"run.agent.steer_taken","payload":{"steer_id":"steer_0000000000000001"}}\n'
printf '{"type":"done","answer":"done"}\n'
