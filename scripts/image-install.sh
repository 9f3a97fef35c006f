#!/bin/sh
# The steps of the Dockerfile that are ours: the console is built with its dependencies, which the run-time dependencies of the service
# then replace, both without install scripts; the image has its own Node, so the pinned ones are taken out. A test runs this on a copy of
# the checkout.
# usage: image-install.sh FOLDER
set -eu
cd "$1"
npm ci --include=dev --ignore-scripts --workspace packages/console
node packages/console/build.ts
npm ci --omit=dev --ignore-scripts --include-workspace-root --workspace packages/server
rm -rf node_modules/node-linux-* node_modules/node-darwin-* node_modules/node-bin-* node_modules/node-win-*
