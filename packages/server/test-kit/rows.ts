/** Rows for store tests. The name of a row determines its other values. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { dayMs } from '../src/foundation/clock.ts';
import { insertServiceAccountTx } from '../src/modules/accounts/service-account-store.ts';
import { createAccount } from '../src/modules/accounts/store.ts';
import { createKey, type NewKey } from '../src/modules/api-keys/new-key.ts';
import type { AuditRow } from '../src/modules/audit/chain.ts';
import { listAuditEvents } from './audit-log.ts';
import { testKeys } from './new-db.ts';
import type { Db } from '../src/foundation/database/db.ts';
import { createNextSigningKey, type SigningKeyRow } from '../src/modules/signing-keys/store.ts';
import { addManagerTx, storeNewTx } from '../src/modules/service-accounts/store.ts';
import { createSession, type NewSession } from '../src/modules/sessions/store.ts';

export const keys = testKeys;
export const operator = { kind: 'operator' } as const;
export const now = Date.UTC(2026, 10, 21, 9, 30);

/** @returns the id of the account */
export async function addAccount(db: Db, name = 'ada', role: 'user' | 'admin' = 'user'): Promise<string> {
  const id = `acc_${name}`;
  const account = {
    id,
    email: `${name}@Example.com`,
    canonicalEmail: `${name}@example.com`,
    passwordHash: 'phc',
    role,
    now,
  };
  assert.equal(await createAccount(db, operator, account), true);
  return id;
}

/**
 * Without audit events.
 * @param managers ids of accounts; the first one is the creator
 * @param name unique in the database
 * @returns the id of the service account
 */
export async function addServiceAccount(
  db: Db,
  managers: readonly [creatorId: string, ...others: string[]],
  name = randomBytes(11).toString('hex'),
): Promise<string> {
  const id = `acc_${name}`;
  const row = { id, name, externalId: null, creatorId: managers[0], createdAt: now, updatedAt: now };
  await db.transaction(async (tx) => {
    await insertServiceAccountTx(tx, id, now);
    assert.equal(await storeNewTx(tx, row), true);
    for (const manager of managers) await addManagerTx(tx, id, manager, now);
  });
  return id;
}

export const hashOf = (text: string): Buffer => keys.apiKeyHash.stored(text);

export const newKey = (accountId: string, nickname: string, more: Partial<NewKey> = {}): NewKey => ({
  id: 1 + Number.parseInt(Buffer.from(nickname).toString('hex').slice(-12), 16),
  hash: hashOf(`${accountId} ${nickname}`),
  accountId,
  hint: 'krv_…x7Qa',
  nickname,
  scopes: [],
  expiresAt: null,
  now,
  ...more,
});

export async function addKey(db: Db, accountId: string, nickname: string, more: Partial<NewKey> = {}): Promise<NewKey> {
  const key = newKey(accountId, nickname, more);
  await createKey(db, operator, key, { keysMax: 1_000 });
  return key;
}

export const newSession = (accountId: string, name: string, more: Partial<NewSession> = {}): NewSession => ({
  id: `ses_${name}`,
  accountId,
  accountEpoch: 0,
  tokenHash: keys.refreshTokenHash.stored(`${name} 1`),
  now,
  idleExpiresAt: now + 14 * dayMs,
  expiresAt: now + 30 * dayMs,
  clientIp: '192.0.2.1',
  userAgent: 'test',
  ...more,
});

export async function addSession(
  db: Db,
  accountId: string,
  name: string,
  more: Partial<NewSession> = {},
): Promise<NewSession> {
  const session = newSession(accountId, name, more);
  await createSession(db, session, 1_000);
  return session;
}

export const newSigningKey = (kid: string, more: Partial<SigningKeyRow> = {}): SigningKeyRow => ({
  kid,
  alg: 'ES256',
  publicJwk: `{"kid":"${kid}"}`,
  privateJwk: Uint8Array.of(1, 2, 3),
  createdAt: now,
  activatesAt: now,
  revokedAt: null,
  ...more,
});

export async function addSigningKey(db: Db, kid: string, more: Partial<SigningKeyRow> = {}): Promise<SigningKeyRow> {
  const key = newSigningKey(kid, more);
  assert.ok(await createNextSigningKey(db, operator, key));
  return key;
}

/** A row of a coalesced read, without the column in which PostgreSQL returns the position of the lookup. */
export function withoutOrdinal(row: object | undefined): object {
  const { ordinal: _, ...columns } = { ordinal: undefined, ...row };
  return columns;
}

/** @returns the audit events that `action` recorded */
export async function auditEventsOf(db: Db, action: () => Promise<unknown>): Promise<AuditRow[]> {
  const before = (await listAuditEvents(db)).length;
  await action();
  return (await listAuditEvents(db)).slice(before);
}
