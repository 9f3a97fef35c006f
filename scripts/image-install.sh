#!/bin/sh
# The steps of the Dockerfile that are ours: run-time dependencies of the service only, without install scripts; the image has its own
# Node, so the pinned ones are taken out. A test runs this on a copy of the checkout.
# usage: image-install.sh FOLDER
set -eu
cd "$1"
npm ci --omit=dev --ignore-scripts --include-workspace-root --workspace packages/server
rm -rf node_modules/node-linux-* node_modules/node-darwin-* node_modules/node-bin-* node_modules/node-win-*
