#!/bin/sh
# breaks: event.type-case
# It writes a type in another case.
read -r turn
printf '{"type":"Partial","text":"x"}\n'
printf '{"type":"result","text":"done"}\n'
