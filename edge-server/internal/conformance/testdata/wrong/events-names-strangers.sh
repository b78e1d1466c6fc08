#!/bin/sh
# breaks: agent.known
# with: events
# A sub-agent speaks that nobody has been told of.
read -r turn
printf '{"type":"delta","agent_id":"sub_1","content":"hello"}\n'
printf '{"type":"done","answer":"done"}\n'
