#!/bin/sh
# breaks: event.legacy
# It names its session as protocol 0.3 did.
read -r turn
printf '{"type":"session","id":"x"}\n'
printf '{"type":"result","text":"done"}\n'
