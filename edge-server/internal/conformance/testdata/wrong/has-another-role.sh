#!/bin/sh
# breaks: partial.role
# It makes up a role.
read -r turn
printf '{"type":"partial","text":"x","role":"aside"}\n'
printf '{"type":"result","text":"done"}\n'
