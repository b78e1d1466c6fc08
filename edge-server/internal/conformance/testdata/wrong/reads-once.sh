#!/bin/sh
# breaks: turn.pieces
# It takes what one read brings for the whole turn.
turn=$(dd bs=65536 count=1 2>/dev/null)
case $turn in
*'}') ;;
*) [ ${#turn} -gt 4000 ] || exit 1 ;;
esac
printf '{"type":"result","text":"done"}\n'
