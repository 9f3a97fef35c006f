/** An installation whose master key is beside its database. */
import assert from 'node:assert/strict';
import { chownSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { databaseIn, runProgram, type Environment, type Exit } from './program.ts';

export const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64url');

export const running =
  (folder: string, environment: Environment) =>
  (line: string, more: Environment = {}): Promise<Exit> =>
    runProgram(line.split(' '), { folder, environment: { ...environment, ...more } });

export async function succeeds(exit: Promise<Exit>): Promise<string> {
  const { status, stdout, stderr } = await exit;
  assert.equal(status, 0, stderr);
  return stdout;
}

/** A folder with an SQLite installation that has its master key beside the database. */
export async function newBeside() {
  const folder = newTempFolder();
  const run = running(folder.path, {});
  await succeeds(run('migrate'));
  const path = databaseIn(folder.path);
  if (process.getuid?.() === 0)
    for (const one of [dirname(path), ...readdirSync(dirname(path)).map((name) => join(dirname(path), name))])
      chownSync(one, 65_534, 65_534);
  const file = `${path}.master-key`;
  const text = () => readFileSync(file, 'utf8');
  /** Files of master keys. */
  const files = () => readdirSync(join(folder.path, 'data')).filter((name) => name.includes('.master-key'));
  return { folder: folder.path, run, path, file, text, files, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}
