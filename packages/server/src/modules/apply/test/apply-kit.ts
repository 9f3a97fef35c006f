/** Applies files to the modules of a service on a database of a test. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApplyFile } from '@keyreeve/contract';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases, type TestDb } from '../../../../test-kit/new-db.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Db } from '../../../foundation/database/db.ts';
import type { Dialect } from '../../../foundation/database/sql.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import type { ApplyMode } from '../apply.ts';
import { readApplyFile, type LoadedFile } from '../file.ts';

export type Content = Omit<ApplyFile, 'generation'>;

/** With 256 random bits in a real file. */
export const secretOf = (name: string): string => `secret of ${name} 0123456789abcdef0123456789abcdef`;
export const sha256Of = (name: string): string => createHash('sha256').update(secretOf(name)).digest('hex');

export const signingSecret = (fill: number): string => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;

/** A process with mail on a database, with a clock of its own. */
export const servicesOn = (db: Db, at = now, journal?: string): Services => {
  const config = testConfig({ KEYREEVE_SMTP_URL: 'smtp://127.0.0.1:1', KEYREEVE_MAIL_FROM: 'keys@example.com' });
  return wireOn(db, {
    clock: new FakeClock(at),
    config: journal === undefined ? config : { ...config, deletionJournal: journal },
  });
};

/** A folder with a file to apply, and the secret of a webhook. */
export function newApplyFolder() {
  const temp = newTempFolder();
  const path = join(temp.path, 'keyreeve.json');
  const secretPath = join(temp.path, 'webhook.secret');
  writeFileSync(secretPath, signingSecret(1), { mode: 0o600 });
  const load = (file: unknown): LoadedFile => {
    writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file), { mode: 0o600 });
    return readApplyFile(path, false);
  };
  return Object.assign(temp, { file: path, secretPath, load });
}

/** On databases with an installation, as every service has one. */
export const onEachInstallation = (guarantee: string, prove: (opened: TestDb) => Promise<void>): void =>
  onEachDatabase(guarantee, async (opened) => {
    await claimInstallation(opened.db, keys.check, now);
    await prove(opened);
  });

/** An empty database of the kind. */
export const openNew = (kind: Dialect): Promise<TestDb> => {
  const open = databases[kind];
  assert.ok(open, kind);
  return open();
};

/** @returns the steps as lines, such as `create key orders` */
export async function applied(services: Services, file: LoadedFile, mode: ApplyMode = {}): Promise<string[]> {
  const { steps } = await services.apply.run(operator, file, mode);
  return steps.map(({ change, kind, name, members }) =>
    [change, kind, name.slice(0, 24), ...(members ?? [])].join(' '),
  );
}

/** Whether a verification accepts the secret of a name, and the scopes of its key. */
export async function verified(services: Services, name: string): Promise<string> {
  const result = await services.verifier.verifyKey(secretOf(name), { clientIp: () => '192.0.2.1', scopes: [] });
  if (!result.valid) return result.code;
  return `accepted ${result.type === 'api_key' ? result.scopes : ''}`.trim();
}
