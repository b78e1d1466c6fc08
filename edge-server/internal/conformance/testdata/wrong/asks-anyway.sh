#!/bin/sh
# breaks: permission.off
# It asks where nobody can answer.
read -r turn
printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{}}\n'
printf '{"type":"result","text":"done"}\n'
