#!/bin/sh
# breaks: turn.answers exit.says-why
# It fails and says nothing.
read -r turn
exit 3
