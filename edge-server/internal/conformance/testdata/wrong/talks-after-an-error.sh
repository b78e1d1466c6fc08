#!/bin/sh
# breaks: error.last
# It goes on after an error.
read -r turn
case $turn in *'"message":""'*) printf '{"type":"error","message":"No text."}\n' ;; esac
printf '{"type":"result","text":"done"}\n'
