#!/bin/sh
# breaks: event.closed-vocabulary
# It says a type that the protocol does not have.
read -r turn
printf '{"type":"tool_call","name":"ls"}\n'
printf '{"type":"result","text":"done"}\n'
