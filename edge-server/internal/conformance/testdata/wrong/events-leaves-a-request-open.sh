#!/bin/sh
# breaks: request.pairs
# with: events
# A request of the model has no end.
read -r turn
printf '{"type":"run.agent.request_begin","payload":{"request_id":"1"}}\n'
printf '{"type":"done","answer":"done"}\n'
