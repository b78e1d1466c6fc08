#!/bin/sh
# breaks: error.last end.last
# with: events
# It goes on after an error.
read -r turn
case $turn in *'"message":""'*) printf '{"type":"error","error_message":"No text."}\n{"type":"delta","content":"x"}\n' && exit 1 ;; esac
printf '{"type":"done","answer":"done"}\n'
