#!/bin/sh
# The command `keyreeve` of docs/deploy.md: runs the package in /opt/keyreeve as the user keyreeve, with the settings of the service.
exec runuser -u keyreeve -- sh -c 'cd /var/lib/keyreeve; set -ae
  KEYREEVE_DATABASE_URL=sqlite:/var/lib/keyreeve/keyreeve.db
  KEYREEVE_MASTER_KEY_FILE=/etc/keyreeve/master-key
  . /etc/keyreeve/keyreeve.env
  set +a
  exec node /opt/keyreeve/current/node_modules/keyreeve/bin/keyreeve.js "$@"' keyreeve "$@"
