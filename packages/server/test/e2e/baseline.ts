/**
 * The baseline (`test/data/baseline`): data of the newest frozen release, and its program. Until the first release is frozen, the data
 * are those of the last landed state, which `npm run baseline` renews, and the program is that of the checkout.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { Credentials } from './every-credential.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));
export const baselineFolder = fileURLToPath(new URL('../data/baseline/', import.meta.url));
/** Only of a frozen release. */
export const frozenProgram = join(baselineFolder, 'program.tar.gz');
export const isFrozen = existsSync(frozenProgram);
/** What the packed program shares with the checkout, because it has not changed: 2 MB. */
const commonPasswords = 'dist/modules/accounts/common-passwords/digests.bin';

export interface Baseline {
  readonly masterKey: string;
  /** ISO 8601, after all credentials were created and ended. */
  readonly writtenAt: string;
  readonly credentials: Credentials;
}

export const baselineEnvironment = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

/** Copies the data to a folder: `keyreeve.db`, `backup.jsonl` and the folder `journal`. */
export function copyBaseline(folder: string): Baseline {
  cpSync(baselineFolder, folder, { recursive: true });
  writeFileSync(join(folder, 'keyreeve.db'), gunzipSync(readFileSync(join(folder, 'keyreeve.db.gz'))));
  return JSON.parse(readFileSync(join(folder, 'baseline.json'), 'utf8')) as Baseline;
}

/** @param unpacked the files of the npm package */
export function packProgram(unpacked: string, path: string): void {
  const excluded = ['*.map', commonPasswords].map((name) => `--exclude=${name}`);
  const fixed = ['--sort=name', '--owner=0', '--group=0', '--mode=u=rwX,go=rX', '--mtime=2026-01-01'];
  const packed = ['bin', 'console', 'dist', 'guides', 'package.json'];
  execFileSync('tar', ['-czf', path, ...fixed, ...excluded, ...packed], { cwd: unpacked });
}

/**
 * It has its packages, but those with libraries of the platform, and Node. They are the installed ones. The folders are those of a
 * checkout, which has the cache of compiled code at its top.
 * @returns its launcher
 */
export function unpackProgram(folder: string): string {
  const program = join(folder, 'packages/server');
  mkdirSync(program, { recursive: true });
  execFileSync('tar', ['-xzf', frozenProgram, '-C', program]);
  cpSync(join(checkout, 'packages/server/src', commonPasswords.slice('dist/'.length)), join(program, commonPasswords));
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  return join(program, 'bin/keyreeve.js');
}
