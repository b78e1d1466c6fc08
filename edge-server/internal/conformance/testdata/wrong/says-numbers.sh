#!/bin/sh
# breaks: event.text
# Its text is a number.
read -r turn
printf '{"type":"partial","text":42}\n'
printf '{"type":"result","text":"done"}\n'
