/** Owners and modes of files with secrets. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSecretFile, rejectionReasonOf, type FileAccess, type ProcessIdentity } from '../secret-file.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { skipWithoutRoot } from '../../../test-kit/skip-without-root.ts';

const service: ProcessIdentity = { uid: 1000, gid: 1000, groups: [1000, 2000] };
/** In a container that runs as root, with an `fsGroup`. */
const root: ProcessIdentity = { uid: 0, gid: 0, groups: [0, 2000] };
const ofService = (mode: number): FileAccess => ({ uid: 1000, gid: 1000, mode: 0o100_000 | mode });
const ofRoot = (gid: number, mode: number): FileAccess => ({ uid: 0, gid, mode: 0o100_000 | mode });
const ofOther = (mode: number): FileAccess => ({ uid: 1001, gid: 2000, mode: 0o100_000 | mode });

const resultOf = (self: ProcessIdentity, file: FileAccess, mayBeWorldReadable: boolean): string =>
  rejectionReasonOf('/secret', file, self, { mayBeWorldReadable }) ?? 'accepted';

// Process, file, result by default, result if world-readable files are accepted.
const cases: readonly (readonly [string, ProcessIdentity, FileAccess, RegExp, RegExp])[] = [
  ['own 0600', service, ofService(0o600), /^accepted$/, /^accepted$/],
  ['own 0400', service, ofService(0o400), /^accepted$/, /^accepted$/],
  ['own 0640', service, ofService(0o640), /must have mode 0600 \(chmod 600/, /^accepted$/],
  ['own 0604', service, ofService(0o604), /must have mode 0600/, /^accepted$/],
  ['own 0620', service, ofService(0o620), /must have mode 0600/, /can be changed by others/],
  ['own 0602', service, ofService(0o602), /must have mode 0600/, /can be changed by others/],
  ['Kubernetes with fsGroup', service, ofRoot(2000, 0o440), /^accepted$/, /^accepted$/],
  ['root’s 0640 with our group', service, ofRoot(1000, 0o640), /^accepted$/, /^accepted$/],
  ['root’s 0660 with our group', service, ofRoot(2000, 0o660), /must have mode 0440/, /can be changed by others/],
  ['root’s 0644 with our group', service, ofRoot(2000, 0o644), /fsGroup and defaultMode: 0440/, /^accepted$/],
  ['a credential of systemd', service, ofRoot(0, 0o440), /^accepted$/, /^accepted$/],
  ['root’s 0460 with root’s group', service, ofRoot(0, 0o460), /must have mode 0440/, /can be changed by others/],
  ['root’s 0440 with another group', service, ofRoot(3000, 0o440), /a group of this process/, /^accepted$/],
  ['Docker Swarm', service, ofRoot(0, 0o444), /KEYREEVE_WORLD_READABLE_SECRETS=accept/, /^accepted$/],
  ['another user’s 0600', service, ofOther(0o600), /belongs to another user \(1001\)/, /^accepted$/],
  ['another user’s 0640 with our group', service, ofOther(0o640), /belongs to another user/, /^accepted$/],
  ['another user’s 0646', service, ofOther(0o646), /belongs to another user/, /can be changed by others/],
  ['root reads the service’s', root, ofService(0o600), /^accepted$/, /^accepted$/],
  ['root reads the service’s 0640', root, ofService(0o640), /must have mode 0600/, /^accepted$/],
  ['root’s own 0640', root, ofRoot(0, 0o640), /must have mode 0600/, /^accepted$/],
  ['Kubernetes with fsGroup, as root', root, ofRoot(2000, 0o440), /^accepted$/, /^accepted$/],
];
test('where a file must belong to its reader or to root, another user’s is rejected, even if all may read it', () => {
  const options = { mayBeWorldReadable: true, mustBeOwn: true };
  assert.match(rejectionReasonOf('/file', ofOther(0o644), service, options) ?? '', /belongs to another user \(1001\)/);
  for (const file of [ofService(0o644), ofRoot(0, 0o644)])
    assert.equal(rejectionReasonOf('/file', file, service, options), undefined);
});

for (const [name, self, file, byDefault, accepting] of cases) {
  test(`a secret file is accepted or rejected by its owner and mode: ${name}`, () => {
    assert.match(resultOf(self, file, false), byDefault);
    assert.match(resultOf(self, file, true), accepting);
  });
}

test('every file is accepted on a system without owners and modes', () => {
  assert.equal(rejectionReasonOf('/secret', ofService(0o666), undefined, { mayBeWorldReadable: false }), undefined);
});

test('the target of a symbolic link is checked, as Kubernetes mounts secrets', () => {
  using folder = newTempFolder();
  const [data, link] = [join(folder.path, 'data'), join(folder.path, 'master-key')];
  writeFileSync(data, ' secret\n', { mode: 0o600 });
  symlinkSync(data, link);
  const strictly = { mayBeWorldReadable: false };
  assert.equal(readSecretFile(link, 'the key', strictly), 'secret');
  chmodSync(data, 0o644);
  assert.throws(() => readSecretFile(link, 'the key', strictly), /^Error: the key can be read by others/);
  assert.throws(() => readSecretFile(join(folder.path, 'none'), 'the key', strictly), /^Error: the key can't be read/);
});

test('a folder in the place of a secret file is named as such, whatever its mode', () => {
  using folder = newTempFolder();
  for (const mode of [0o755, 0o700]) {
    chmodSync(folder.path, mode);
    const read = (): string => readSecretFile(folder.path, 'the key', { mayBeWorldReadable: false });
    assert.throws(read, { message: 'the key is a folder' });
  }
});

test('a file of root with a group of the process is read from the disk', { skip: skipWithoutRoot }, () => {
  using folder = newTempFolder();
  const path = join(folder.path, 'master-key');
  const group = process.getgroups?.().find((gid) => gid !== process.getegid?.());
  writeFileSync(path, 'secret', { mode: 0o600 });
  chmodSync(path, 0o440);
  if (group !== undefined) chownSync(path, 0, group);
  const read = (): string => readSecretFile(path, 'the key', { mayBeWorldReadable: false });
  if (group === undefined) assert.throws(read, /can be read by others/);
  else assert.equal(read(), 'secret');
});
