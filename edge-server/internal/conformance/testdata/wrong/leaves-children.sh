#!/bin/sh
# breaks: tree.no-orphans
# It leaves something running.
read -r turn
sleep 1000 >/dev/null 2>&1 &
printf '{"type":"result","text":"done"}\n'
