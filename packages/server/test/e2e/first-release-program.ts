/** The program of release 0.1.0. This file imports nothing of the current program. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));

/** The database, the backup, the deletion journal and the credentials of an installation, and the packed program. */
export const firstReleaseData = fileURLToPath(new URL('../data/release-0.1.0/', import.meta.url));
export const firstReleaseCommit = 'd8af2d0';

/** The schema that it creates, and the newest that it supports. */
export const firstReleaseSchema = 2;

export interface Credentials {
  readonly masterKey: string;
  readonly writtenAt: string;
  readonly password: string;
  readonly recoveryCodes: readonly string[];
  readonly refreshTokens: Readonly<Record<'live' | 'ended' | 'ofDeletedAccount' | 'ofDisabledAccount', string>>;
  readonly accessTokens: Readonly<Record<'live' | 'ended', string>>;
  readonly keys: Readonly<
    Record<
      | 'live'
      | 'service'
      | 'imported'
      | 'deletedBeforeBackup'
      | 'deletedAfterBackup'
      | 'ofDeletedAccount'
      | 'ofDisabledAccount',
      string
    >
  >;
}

/** The copy shares the installed packages and the list of common passwords with the checkout. @returns its launcher */
export function unpackFirstRelease(folder: string): string {
  execFileSync('tar', ['-xzf', join(firstReleaseData, 'program.tar.gz'), '-C', folder]);
  const list = 'common-passwords/digests.bin';
  cpSync(
    join(checkout, 'packages/server/src/modules/accounts', list),
    join(folder, 'packages/server/src/accounts', list),
  );
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@keyreeve'), { recursive: true });
  for (const name of readdirSync(join(checkout, 'node_modules')).filter((one) => one !== '@keyreeve'))
    symlinkSync(join(checkout, 'node_modules', name), join(modules, name));
  symlinkSync(join(folder, 'packages/contract'), join(modules, '@keyreeve/contract'));
  return join(folder, 'packages/server/bin/keyreeve.js');
}
