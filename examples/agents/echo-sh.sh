#!/bin/sh
# A bridge agent in plain sh: it repeats what it is told and says which machine it runs on.
IFS= read -r turn                     # one JSON line; stdin ends behind it
# The message as the JSON string holds it, escapes included: that is what goes back out.
message=$(printf '%s\n' "$turn" | sed 's/^.*"message":"\([^"\\]*\(\\.[^"\\]*\)*\)".*$/\1/')
say() { printf '{"type":"%s","text":"%s"}\n' "$1" "$2"; }
say partial "You said: "
say partial "$message"
say partial " (on $(uname -sm))"
say result ""                         # the text went out as partials already
