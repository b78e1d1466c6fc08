#!/bin/sh
# breaks: artifact.there
# with: events
# It hands out a file that is not there.
read -r turn
printf '{"type":"artifact","artifact":{"path":"no-such-report.md"}}\n'
printf '{"type":"done","answer":"done"}\n'
