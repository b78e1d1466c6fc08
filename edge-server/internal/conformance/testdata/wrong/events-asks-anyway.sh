#!/bin/sh
# breaks: permission.off
# with: events
# It asks where nobody can answer.
read -r turn
printf '{"type":"prompt","request_id":"1","kind":"question","inner":{"question":"Which branch?"}}\n'
printf '{"type":"done","answer":"done"}\n'
