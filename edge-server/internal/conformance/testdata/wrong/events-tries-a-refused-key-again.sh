#!/bin/sh
# breaks: fact.payload
# with: events
# A request whose key was refused is to be made again.
read -r turn
printf '{"type":"run.agent.request_begin","payload":{"request_id":"1","attempt":1}}\n'
printf '{"type":"run.agent.request_end","payload":{"request_id":"1","status":"auth","attempt":1,"retry_in_ms":2000}}\n'
printf '{"type":"done","answer":"done"}\n'
