/** Root gives only files that it has created to the user of the service, also if that user replaces their names meanwhile. */
import assert from 'node:assert/strict';
import { chownSync, mkdirSync, renameSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { giveFolderToOwnerOf, giveToOwnerOf, writeNewFor } from '../file-owner.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { skipWithoutRoot } from '../../../test-kit/skip-without-root.ts';

const otherUid = 65_534;
const skip = skipWithoutRoot;

const ownerOf = (path: string): number[] => [statSync(path).uid, statSync(path).gid];

/** A folder of another user, and a file and a folder of root outside it. */
function newFolders() {
  const temp = newTempFolder();
  const [folder, file, outside] = ['service', 'file', 'outside'].map((name) => join(temp.path, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(folder);
  mkdirSync(outside);
  writeFileSync(file, 'of root');
  chownSync(folder, otherUid, otherUid);
  return { folder, file, outside, [Symbol.dispose]: () => temp[Symbol.dispose]() };
}

test('a file that is replaced by a symbolic link gives away only the created file', { skip }, async () => {
  using folders = newFolders();
  const { folder, file } = folders;
  const path = join(folder, 'created');
  const handle = await open(path, 'wx', 0o600);
  try {
    renameSync(path, `${path}.moved`);
    symlinkSync(file, path);
    await giveToOwnerOf(folder, handle);
  } finally {
    await handle.close();
  }
  assert.deepEqual(
    [ownerOf(file), ownerOf(`${path}.moved`)],
    [
      [0, 0],
      [otherUid, otherUid],
    ],
  );
});

test('a folder that is replaced by a symbolic link or a file is not given away', { skip }, async () => {
  using folders = newFolders();
  const { folder, file, outside } = folders;
  const path = join(folder, 'created');
  mkdirSync(path);
  await giveFolderToOwnerOf(folder, path);
  assert.deepEqual(ownerOf(path), [otherUid, otherUid]);
  rmdirSync(path);
  symlinkSync(outside, path);
  await assert.rejects(giveFolderToOwnerOf(folder, path), { code: 'ENOTDIR' });
  await assert.rejects(giveFolderToOwnerOf(folder, file), { code: 'ENOTDIR' });
  assert.deepEqual(
    [ownerOf(outside), ownerOf(file)],
    [
      [0, 0],
      [0, 0],
    ],
  );
});

test('a new file is written only under a free name, also through a symbolic link', { skip }, async () => {
  using folders = newFolders();
  const { folder, file } = folders;
  const path = join(folder, 'created');
  await writeNewFor(folder, path, 'text');
  assert.deepEqual([ownerOf(path), statSync(path).mode & 0o777, statSync(path).size], [[otherUid, otherUid], 0o600, 4]);
  for (const [name, target] of [
    ['to-a-file', file],
    ['to-nothing', join(folders.outside, 'new')],
  ] as const) {
    symlinkSync(target, join(folder, name));
    await assert.rejects(writeNewFor(folder, join(folder, name), 'text'), { code: 'EEXIST' });
  }
  assert.deepEqual([ownerOf(file), statSync(file).size], [[0, 0], 7]);
});
