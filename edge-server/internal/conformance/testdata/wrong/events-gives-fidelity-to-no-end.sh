#!/bin/sh
# breaks: fidelity.fits
# with: events
# A piece that ends nothing has fidelity.
read -r turn
printf '{"type":"delta","content":"hello","fidelity":{"phase":"answer"}}\n'
printf '{"type":"done","answer":"hello"}\n'
