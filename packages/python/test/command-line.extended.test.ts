/** The example of a command line signs a person in with a real service. The packages that it can use are not those of the tests. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkCommandLine } from '../../conformance/check-command-line.ts';
import { checkKeyStore, skipKeyStore } from '../../conformance/check-key-store.ts';
import { packageFolder, python, pythonEnvironment, skip } from './python.ts';

const args = [join(packageFolder, 'examples/acme/acme.py')];

test('the command line in Python signs in, uses its key and forgets it', { skip }, async () => {
  await checkCommandLine({ command: python, args, env: pythonEnvironment() }, { hasQrCode: false });
});

/** Debian's package of keyring. */
const debian = '/usr/bin/python3';
const skipWithKeyring =
  skipKeyStore ||
  (process.env['CI'] !== 'true' &&
    spawnSync(debian, ['-c', 'import keyring']).status !== 0 &&
    `${debian} does not import keyring: not tried`);

test('the command line in Python keeps its key in the key store of the system', { skip: skipWithKeyring }, async () => {
  await checkKeyStore({ command: debian, args, env: pythonEnvironment() });
});
