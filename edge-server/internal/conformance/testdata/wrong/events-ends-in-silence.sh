#!/bin/sh
# breaks: turn.answers end.said
# with: events
# It ends without saying so.
read -r turn
printf '{"type":"delta","content":"x"}\n'
