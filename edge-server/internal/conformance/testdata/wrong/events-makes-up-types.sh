#!/bin/sh
# breaks: event.closed-vocabulary
# with: events
# It says a type that no schema has.
read -r turn
printf '{"type":"chunk","content":"x"}\n'
printf '{"type":"done","answer":"done"}\n'
