#!/bin/sh
# breaks: session.valid
# with: events
# Its session is a path.
read -r turn
printf '{"type":"session_init","session_id":"sessions/1"}\n'
printf '{"type":"done","answer":"done"}\n'
