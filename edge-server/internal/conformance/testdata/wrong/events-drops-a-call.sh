#!/bin/sh
# breaks: tool.pairs
# with: events
# A tool that it calls never ends.
read -r turn
printf '{"type":"tool_call","tool_call_id":"1","tool_name":"ls"}\n'
printf '{"type":"done","answer":"done"}\n'
