/** The packages of Debian in the image are those of the pinned list. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  debianArchitectures,
  debianNames,
  downloadDebian,
  readDebianList,
  type DebianPackage,
} from '../../../../scripts/debian-packages.ts';
import { sha256 } from '../../../../scripts/oci-layout.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { root as checkout } from './shell-blocks.ts';

test('the list has every package for both architectures, each in one version', () => {
  const { packages } = readDebianList(checkout);
  for (const architecture of debianArchitectures) {
    const names = packages.filter((each) => each.architecture === architecture).map(({ name }) => name);
    assert.deepEqual(names, debianNames);
  }
  for (const name of debianNames)
    assert.equal(new Set(packages.filter((each) => each.name === name).map(({ version }) => version)).size, 1, name);
});

test('a package with one changed byte is never used, whether a mirror or the cache has it', () => {
  using folder = newTempFolder();
  const [root, mirror] = [join(folder.path, 'root'), join(folder.path, 'mirror')];
  const published = join(mirror, 'pool/package.deb');
  mkdirSync(join(mirror, 'pool'), { recursive: true });
  writeFileSync(published, 'the package');
  const pinned: DebianPackage = {
    name: 'package',
    version: '1',
    architecture: 'amd64',
    path: 'pool/package.deb',
    sha256: sha256(Buffer.from('the package')),
  };
  process.env['KEYREEVE_DEBIAN_MIRROR'] = `copy:${mirror}`;
  try {
    const cached = downloadDebian(root, pinned);
    assert.equal(readFileSync(cached, 'utf8'), 'the package');
    writeFileSync(cached, 'the pACKAGE');
    assert.equal(readFileSync(downloadDebian(root, pinned), 'utf8'), 'the package');
    // The cache suffices.
    rmSync(published);
    downloadDebian(root, pinned);
    rmSync(cached);
    writeFileSync(published, 'the pAckage');
    assert.throws(
      () => downloadDebian(root, pinned),
      new Error(
        `No mirror has pool/package.deb with the SHA-256 ${pinned.sha256}. ` +
          'Run `npm run debian`, or name a mirror that has it in KEYREEVE_DEBIAN_MIRROR.',
      ),
    );
    assert.ok(!existsSync(cached));
  } finally {
    delete process.env['KEYREEVE_DEBIAN_MIRROR'];
  }
});
