/** The example of `docs/apply.md` is applied as it is, and its commands make what it needs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readApplyFile } from '../../src/modules/apply/file.ts';
import {
  applied,
  newApplyFolder,
  onEachInstallation,
  servicesOn,
  signingSecret,
} from '../../src/modules/apply/test/apply-kit.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { root } from './shell-blocks.ts';

const page = readFileSync(join(root, 'docs/apply.md'), 'utf8');
const blockOf = (language: string, part: string): string =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))]
    .map(([, text]) => text!)
    .find((text) => text.includes(part))!;
const example = blockOf('json', 'generation');

onEachInstallation('the example of the page creates what it states', async ({ db }) => {
  using folder = newApplyFolder();
  writeFileSync(join(folder.path, 'siem.secret'), signingSecret(3), { mode: 0o600 });
  const services = servicesOn(db);
  assert.deepEqual(await applied(services, folder.load(example)), [
    'create scope reports:read',
    'create account ada@example.com',
    'create service_account gateway',
    'create service_account acme',
    'create issuer https://token.actions.gi',
    'create key 9f0c6f3a4c6fd8f0d39a4ff6',
    'create webhook siem',
    'create program acme-cli',
  ]);
  assert.deepEqual(await applied(services, readApplyFile(folder.file, false)), []);
});

test('the commands of the page make a secret of 256 bits, and its SHA-256', () => {
  using folder = newTempFolder();
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', blockOf('sh', 'openssl')], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^[0-9a-f]{64} {2}gateway\.key\n$/);
  assert.match(readFileSync(join(folder.path, 'gateway.key'), 'utf8'), /^[0-9a-f]{64}$/);
});
