#!/bin/sh
# breaks: usage.place
# It reports usage on a partial.
read -r turn
printf '{"type":"partial","text":"x","usage":{"output_tokens":1}}\n'
printf '{"type":"result","text":"done"}\n'
