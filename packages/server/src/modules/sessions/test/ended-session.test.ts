/** A change checks the session again in its own transaction, after the access token has been verified. */
import assert from 'node:assert/strict';
import { setPasswordHash } from '../../accounts/credentials-store.ts';
import { createKey } from '../../api-keys/new-key.ts';
import { listAccountKeys } from '../../api-keys/store.ts';
import type { Principal } from '../../../foundation/principal.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { replaceSigningKeys } from '../../signing-keys/store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { endSession } from '../store.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import {
  addAccount,
  addKey,
  addSession,
  addSigningKey,
  newKey,
  newSigningKey,
  now,
  operator,
} from '../../../../test-kit/rows.ts';
import { deleteAccount, deleteKey, disableAccount } from '../../../../test-kit/store-changes.ts';

const ada: Principal = { kind: 'account', accountId: 'acc_ada', sessionId: 'ses_one' };

/** Creates two sessions that end at `now + 10`: one by idleness, the other by age. */
async function prepare(db: Db): Promise<void> {
  await addSigningKey(db, 'kid');
  await addAccount(db, 'ada');
  await addSession(db, 'acc_ada', 'one', { idleExpiresAt: now + 10 });
  await addSession(db, 'acc_ada', 'old', { expiresAt: now + 10 });
  await addKey(db, 'acc_ada', 'held', { id: 42 });
  await addSession(db, await addAccount(db, 'bob'), 'foreign');
}

interface Ending {
  readonly end?: (db: Db) => Promise<unknown>;
  readonly principal?: Principal;
  readonly at?: number;
}

const endings: Readonly<Record<string, Ending>> = {
  'that was signed out': { end: (db) => endSession(db, { principal: operator, now }, 'ses_one') },
  'from before a new password': { end: (db) => setPasswordHash(db, operator, { id: 'acc_ada', hash: 'new', now }) },
  'of a disabled account': { end: (db) => disableAccount(db, { principal: operator, now }, 'acc_ada') },
  'of a deleted account': { end: (db) => deleteAccount(db, { principal: operator, now }, 'acc_ada') },
  'that was idle too long': { at: now + 10 },
  'that is too old': { at: now + 10, principal: { ...ada, sessionId: 'ses_old' } },
  'whose token’s key was revoked': {
    end: (db) => replaceSigningKeys(db, operator, newSigningKey('next')),
    principal: { ...ada, kid: 'kid' },
  },
  'that does not exist': { principal: { ...ada, sessionId: 'ses_unknown' } },
  'of another account': { principal: { ...ada, sessionId: 'ses_foreign' } },
};

const isInvalidToken = (error: unknown): boolean => codeOf(error) === 'invalid_access_token';

for (const [which, { end, principal = ada, at = now }] of Object.entries(endings)) {
  onEachDatabase(`a session ${which} cannot create or delete API keys`, async ({ db }) => {
    await prepare(db);
    await end?.(db);
    const [held, events] = [await listAccountKeys(db, 'acc_ada'), await listAuditEvents(db)];
    await assert.rejects(
      createKey(db, principal, newKey('acc_ada', 'new', { now: at }), { keysMax: 100 }),
      isInvalidToken,
    );
    await assert.rejects(deleteKey(db, { principal, now: at }, 'acc_ada', 42), isInvalidToken);
    assert.deepEqual(await listAccountKeys(db, 'acc_ada'), held);
    assert.deepEqual(await listAuditEvents(db), events);
  });
}

onEachDatabase('a session can create and delete API keys up to its last millisecond', async ({ db }) => {
  await prepare(db);
  await createKey(db, { ...ada, kid: 'kid' }, newKey('acc_ada', 'new', { now: now + 9 }), { keysMax: 100 });
  const old: Principal = { ...ada, sessionId: 'ses_old' };
  await deleteKey(db, { principal: old, now: now + 9 }, 'acc_ada', 42);
  const nicknames = (await listAccountKeys(db, 'acc_ada')).map(({ nickname }) => nickname);
  assert.deepEqual(nicknames, ['new']);
});
