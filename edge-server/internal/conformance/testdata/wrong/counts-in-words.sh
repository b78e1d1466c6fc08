#!/bin/sh
# breaks: usage.values
# It reports usage as text.
read -r turn
printf '{"type":"result","text":"done","usage":{"input_tokens":"12"}}\n'
