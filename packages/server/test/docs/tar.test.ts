/** The archives of a release have paths of every length. dpkg rejects an archive with a record of pax. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { tarOf } from '../../../../scripts/tar.ts';

const [typeOffset, file, pax] = [156, '0', 'x'];

for (const [name, path, type] of [
  ['a short path', 'usr/bin/keyreeve', file],
  [
    'a library in the Debian package for arm64',
    './usr/lib/keyreeve/1.0.0-rc.1/node_modules/@node-rs/bcrypt-linux-arm64-gnu/bcrypt.linux-arm64-gnu.node',
    file,
  ],
  ['the longest path without a record', `${'a/'.repeat(77)}a/${'b'.repeat(100)}`, file],
  ['a folder that is too long', `${'a/'.repeat(78)}a/${'b'.repeat(100)}`, pax],
  ['a name that is too long', `a/${'b'.repeat(101)}`, pax],
  ['a name with characters of several bytes', `ä/${'ü'.repeat(50)}/${'ü'.repeat(50)}`, file],
] as const)
  test(`an archive has ${name}`, () => {
    const archive = tarOf([{ path, kind: 'file', content: Buffer.from('content') }], 1);
    assert.equal(String.fromCharCode(archive[typeOffset] ?? 0), type);
    const run = (...args: string[]) => spawnSync('tar', args, { input: archive, encoding: 'utf8' }).stdout;
    assert.equal(run('--quoting-style=literal', '-t'), `${path}\n`);
    assert.equal(run('-xO'), 'content');
  });
