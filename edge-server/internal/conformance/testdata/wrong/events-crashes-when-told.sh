#!/bin/sh
# breaks: control.goes-on
# with: events controls=steer
# It does not get over a line behind its turn.
read -r turn
read -r told && exit 3
printf '{"type":"done","answer":"done"}\n'
