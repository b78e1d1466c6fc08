#!/bin/sh
# breaks: event.fields
# with: events
# Its content is a number.
read -r turn
printf '{"type":"delta","content":42}\n'
printf '{"type":"done","answer":"done"}\n'
