#!/bin/sh
# breaks: turn.answers
# It cannot work here, and says so.
read -r turn
printf '{"type":"error","message":"Set AGENT_KEY."}\n'
