/** The files of the deletion journal: entries are read again, and every change of a file is detected. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { JournalError, JournalFile, journalFiles, readJournal, readPosition, writePosition } from '../files.ts';
import type { Revocation } from '../revocation.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { skipWithoutRoot } from '../../../../test-kit/skip-without-root.ts';

const keys = deriveKeys(Buffer.alloc(32, 7));
const otherKeys = deriveKeys(Buffer.alloc(32, 8));
const key = (id: number): Revocation => ({ kind: 'api_key', id: String(id), at: 1_000 + id });

const readAll = (folder: string, by = keys): Promise<Revocation[]> => Array.fromAsync(readJournal(folder, by));

/** Writes a journal of one file. @returns its path */
async function written(folder: string, ...revocations: readonly Revocation[]): Promise<string> {
  await new JournalFile(folder, keys).append(revocations);
  const [path = ''] = await journalFiles(folder);
  return path;
}

test('entries of all processes are read again', async () => {
  using temp = newTempFolder();
  const folder = join(temp.path, 'deep', 'journal');
  const ability: Revocation = { kind: 'account_disabled', id: 'acc_ada', at: 5, event: 17 };
  const [one, two] = [new JournalFile(folder, keys), new JournalFile(folder, keys)];
  await one.append([key(1)]);
  await two.append([ability]);
  await one.append([key(2), key(3)]);
  const found = await readAll(folder);
  assert.deepEqual(new Set(found), new Set([key(1), key(2), key(3), ability]));
  assert.deepEqual(
    found.filter(({ kind }) => kind === 'api_key'),
    [key(1), key(2), key(3)],
  );
  assert.equal(readdirSync(folder).length, 2);
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(await readAll(join(temp.path, 'none')), []);
});

test('a file that a command of root writes belongs to the user of the service', { skip: skipWithoutRoot }, async () => {
  using temp = newTempFolder();
  const otherUid = 65_534;
  chownSync(temp.path, otherUid, otherUid);
  const folder = join(temp.path, 'journal');
  await new JournalFile(folder, keys).append([key(1)]);
  await writePosition(folder, keys, { event: 1, mark: '', at: 1, changeKinds: 0 });
  const paths = [folder, ...readdirSync(folder).map((name) => join(folder, name))];
  assert.equal(paths.length, 3);
  for (const path of paths) assert.deepEqual([statSync(path).uid, statSync(path).gid], [otherUid, otherUid]);
});

const edits: Readonly<Record<string, (text: string) => string>> = {
  'a changed id': (text) => text.replace('"id":"2"', '"id":"9"'),
  'a removed line': (text) => text.replace(/^.*"id":"2".*\n/m, ''),
  'a repeated line': (text) => text.replace(/^.*"id":"2".*\n/m, '$&$&'),
  'two swapped lines': (text) => text.replace(/^(.*"id":"2".*\n)(.*\n)/m, '$2$1'),
  'a line without its MAC': (text) => text.replace(/(?<="at":1002),"mac":"[0-9a-f]+"/, ''),
  'a forged line': (text) => `${text}{"kind":"api_key","id":"7","at":1,"mac":"${'0'.repeat(64)}"}\n`,
  'another file’s header': (text) => text.replace(/"file":"\w/, '"file":"x'),
  'no header': (text) => text.slice(text.indexOf('\n') + 1),
};
for (const [name, edit] of Object.entries(edits)) {
  test(`a journal with ${name} is rejected`, async () => {
    using temp = newTempFolder();
    const path = await written(temp.path, key(1), key(2), key(3));
    const text = readFileSync(path, 'utf8');
    assert.notEqual(edit(text), text);
    writeFileSync(path, edit(text));
    await assert.rejects(readAll(temp.path), (error) => error instanceof JournalError && error.message.includes(path));
  });
}

test('an incomplete last line is ignored, because it was never acknowledged', async () => {
  using temp = newTempFolder();
  const path = await written(temp.path, key(1), key(2));
  appendFileSync(path, '{"kind":"api_key","id":"3","at":10');
  assert.deepEqual(await readAll(temp.path), [key(1), key(2)]);
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, 20));
  assert.deepEqual(await readAll(temp.path), []);
});

test('a journal of another installation is rejected with that reason', async () => {
  using temp = newTempFolder();
  await written(temp.path, key(1));
  await assert.rejects(readAll(temp.path, otherKeys), (error) => {
    assert.ok(error instanceof JournalError);
    assert.match(error.message, /belongs to another installation/);
    return true;
  });
});

test('the journal contains neither the master key nor a derived key', async () => {
  using temp = newTempFolder();
  const text = readFileSync(await written(temp.path, key(1)), 'utf8');
  const [header = '', line = ''] = text.split('\n').map((whole) => whole && (JSON.parse(whole) as object));
  assert.deepEqual(Object.keys(header), ['format', 'version', 'installation', 'file', 'mac']);
  assert.deepEqual(Object.keys(line), ['kind', 'id', 'at', 'mac']);
});

test('a failed write throws an error', async () => {
  using temp = newTempFolder();
  writeFileSync(join(temp.path, 'file'), '');
  await assert.rejects(new JournalFile(join(temp.path, 'file', 'journal'), keys).append([key(1)]), { code: 'ENOTDIR' });
});

test('a copied file, an unknown file and an unknown kind are rejected with their path and the reason', async () => {
  const refusals: Readonly<Record<string, [put: (path: string, journal: string) => unknown, reason: RegExp]>> = {
    'a copied journal file': [
      (path, journal) => copyFileSync(journal, path),
      /is a copy of \w+\.journal, or was renamed/,
    ],
    'a copied position': [
      (path, journal) => copyFileSync(join(journal, '..', 'position.json'), path),
      /is a copy of position\.json, or was renamed/,
    ],
    'another text': [(path) => writeFileSync(path, 'notes\n'), /: line 1 is damaged or was edited/],
    'a folder': [(path) => mkdirSync(path), / is not a file/],
  };
  for (const [name, [put, reason]] of Object.entries(refusals)) {
    using temp = newTempFolder();
    const journal = await written(temp.path, key(1));
    await writePosition(temp.path, keys, { event: 1, mark: '', at: 1, changeKinds: 0 });
    const path = join(temp.path, 'zzz.journal');
    put(path, journal);
    await assert.rejects(
      readAll(temp.path),
      (error) => error instanceof JournalError && error.path === path && reason.test(error.message),
      name,
    );
    const damage: string[] = [];
    const rest = readJournal(temp.path, keys, {}, (error) => damage.push(error.path));
    assert.deepEqual([await Array.fromAsync(rest), damage], [[key(1)], [path]], name);
  }
});

test('a line of an unknown kind or form is rejected', async () => {
  const wrong = [
    { kind: 'planet', id: '1', at: 1 },
    { kind: 'toString', id: '1', at: 1 },
    { id: '1', at: 1 },
    { kind: 'api_key', id: 1, at: 1 },
    { kind: 'api_key', id: '1', at: '1' },
    { kind: 'account_disabled', id: '1', at: 1, event: 1.5 },
  ];
  for (const line of wrong) {
    using temp = newTempFolder();
    await written(temp.path, key(1), line as Revocation);
    await assert.rejects(
      readAll(temp.path),
      (error) => error instanceof JournalError && error.message.includes('line 3 has a kind that this version'),
      JSON.stringify(line),
    );
  }
});

test('a journal file in place of the position is rejected, and a position with wrong members is ignored', async () => {
  using temp = newTempFolder();
  const journal = await written(temp.path, key(1));
  copyFileSync(journal, join(temp.path, 'position.json'));
  await assert.rejects(
    readPosition(temp.path, keys),
    (error) => error instanceof JournalError && /position\.json is a copy of \w+\.journal/.test(error.message),
  );
  writeFileSync(join(temp.path, 'position.json'), '{"format":\n');
  await assert.rejects(
    readPosition(temp.path, keys),
    (error) => error instanceof JournalError && /line 1 is damaged or was edited; move it out/.test(error.message),
  );
  await writePosition(temp.path, keys, { event: '7', at: 1 } as never);
  assert.equal(await readPosition(temp.path, keys), undefined);
});
