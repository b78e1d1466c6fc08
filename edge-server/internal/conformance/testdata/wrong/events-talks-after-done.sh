#!/bin/sh
# breaks: end.last
# with: events
# It goes on after done.
read -r turn
printf '{"type":"done","answer":"done"}\n'
printf '{"type":"delta","content":"x"}\n'
