#!/bin/sh
# breaks: session.valid
# Its session is a path.
read -r turn
printf '{"type":"result","text":"done","session_id":"sessions/1"}\n'
