#!/bin/sh
# breaks: error.message
# Its error has no sentence.
read -r turn
case $turn in *'"message":""'*) printf '{"type":"error"}\n' && exit 1 ;; esac
printf '{"type":"result","text":"done"}\n'
