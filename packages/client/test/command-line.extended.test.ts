/** The example of a command line signs a person in with a real service. */
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildClientPackage } from '../../../scripts/package-client.ts';
import { checkCommandLine } from '../../conformance/check-command-line.ts';
import { checkKeyStore, skipKeyStore } from '../../conformance/check-key-store.ts';
import type { Command } from '../../conformance/library-program.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Installs the example in a folder. */
function commandIn(folder: string): Command {
  cpSync(join(root, 'packages/client/examples/acme'), folder, { recursive: true });
  const installed = join(folder, 'node_modules/@keyreeve/client');
  mkdirSync(dirname(installed), { recursive: true });
  buildClientPackage(root, installed);
  symlinkSync(join(root, 'node_modules/lean-qr'), join(folder, 'node_modules/lean-qr'));
  return { command: process.execPath, args: [join(folder, 'acme.js')] };
}

test('the command line in Node signs in, uses its key and forgets it', async () => {
  using folder = newTempFolder();
  await checkCommandLine(commandIn(folder.path), { hasQrCode: true });
});

const keyring = join(root, '.ci/tools/node_modules/@napi-rs');
const skip =
  skipKeyStore ||
  (process.env['CI'] !== 'true' && !existsSync(keyring) && '@napi-rs/keyring is not in .ci/tools: not tried');

test('the command line in Node keeps its key in the key store of the system', { skip }, async () => {
  using folder = newTempFolder();
  const command = commandIn(folder.path);
  symlinkSync(keyring, join(folder.path, 'node_modules/@napi-rs'));
  await checkKeyStore(command);
});
