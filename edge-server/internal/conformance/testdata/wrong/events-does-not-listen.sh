#!/bin/sh
# breaks: steer.taken
# with: events controls=steer
# It says that it can be steered, and hears nothing.
read -r turn
printf '{"type":"done","answer":"done"}\n'
