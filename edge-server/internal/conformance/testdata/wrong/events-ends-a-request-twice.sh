#!/bin/sh
# breaks: request.pairs
# with: events
# A request of the model ends twice.
read -r turn
printf '{"type":"run.agent.request_begin","payload":{"request_id":"1"}}\n'
printf '{"type":"run.agent.request_end","payload":{"request_id":"1","status":"completed"}}\n'
printf '{"type":"run.agent.request_end","payload":{"request_id":"1","status":"completed"}}\n'
printf '{"type":"done","answer":"done"}\n'
