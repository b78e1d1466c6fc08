#!/bin/sh
# breaks: event.fields
# with: events
# Where its reasoning stands is no yes and no no.
read -r turn
printf '{"type":"run.agent.thinking","payload":{"delta":"hm"},"apart":"aside"}\n'
printf '{"type":"done","answer":"done"}\n'
