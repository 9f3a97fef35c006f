#!/bin/sh
# Starts Keyreeve with a master key that sops has encrypted:
#   sops encrypt --input-type binary --age age1… /etc/keyreeve/master-key-2 > master-key-2.enc
#
# sops passes the master key through a named pipe, which is read once. With KEYREEVE_VERIFY_PORT
# or KEYREEVE_VERIFY_SOCKET, add --no-fifo, because each verifier reads the file: sops then writes a temporary file with mode 0600, and
# removes it when the command ends.
#
# sops does not forward signals. Send SIGTERM only to the process of Keyreeve: it drains, and sops exits with its status. A signal to
# sops or to the whole process group ends sops before it removes the temporary file, which stays in /tmp/.sops*. With a service manager
# that signals the group, set TMPDIR to a folder in memory that it removes, such as the RuntimeDirectory of systemd.
#
# Tried by hand with sops 3.13.3 and age; no test repeats it.
exec sops exec-file --input-type binary --output-type binary master-key-2.enc 'KEYREEVE_MASTER_KEY_FILE={} exec keyreeve serve'
