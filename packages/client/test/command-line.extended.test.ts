/** The example of a command line signs a person in with a real service. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildClientPackage } from '../../../scripts/package-client.ts';
import { checkCommandLine } from '../../conformance/check-command-line.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

test('the command line in Node signs in, uses its key and forgets it', async () => {
  using folder = newTempFolder();
  cpSync(join(root, 'packages/client/examples/acme'), folder.path, { recursive: true });
  const installed = join(folder.path, 'node_modules/@keyreeve/client');
  mkdirSync(dirname(installed), { recursive: true });
  buildClientPackage(root, installed);
  symlinkSync(join(root, 'node_modules/lean-qr'), join(folder.path, 'node_modules/lean-qr'));
  const command = { command: process.execPath, args: [join(folder.path, 'acme.js')] };
  await checkCommandLine(command, { hasQrCode: true });
});
