#!/bin/sh
# breaks: turn.one-line
# with: events permission timeout=3s
# It waits for the end of stdin, which does not come while a client offers tools.
turn=$(cat)
case $turn in
'') exit 1 ;;
esac
printf '{"type":"done","answer":"done"}\n'
