/** Changes and rotations of API keys, for `audit.test.ts`. */
import type { AuditAction } from '../audit.ts';
import type { KeyChanges } from '../../api-keys/changes.ts';
import { makeKey } from '../../api-keys/key-format.ts';
import { PendingChanges } from '../../deletion-journal/pending-changes.ts';
import { Leaks } from '../../leaks/leaks.ts';
import type { Db } from '../../../foundation/database/db.ts';
import type { Principal } from '../../../foundation/principal.ts';
import { newKeyChanges } from '../../../../test-kit/new-key-changes.ts';
import { keys, now } from '../../../../test-kit/rows.ts';

const ada: Principal = { kind: 'account', accountId: 'acc_ada', sessionId: 'ses_one' };

const on = (db: Db): KeyChanges => newKeyChanges(db, { now: () => now });

/** The secret of the key 42. */
export const heldText = makeKey('krv').reveal();

const leaksOn = (db: Db): Leaks =>
  new Leaks({
    db,
    clock: { now: () => now },
    revocations: undefined,
    hash: keys.apiKeyHash,
    keyPrefixes: ['krv'],
    pending: new PendingChanges<number>(),
  });

const row = (action: AuditAction, details: object) => ({
  actor: 'account:acc_ada',
  action,
  accountId: 'acc_ada',
  target: '42',
  details: JSON.stringify({ nickname: 'held', ...details }),
});

const overlap = { overlapSeconds: 60, endPrevious: false };

export const keyOperations = {
  'api_key.updated': {
    change: (db: Db) =>
      on(db).change(ada, 'acc_ada', 42, { scopes: ['a'], expiresAt: now + 1, addresses: ['192.0.2.1'] }),
    rows: [
      row('api_key.updated', {
        changed: ['scopes', 'expiresAt', 'addresses'],
        narrowed: ['expiresAt', 'addresses'],
        scopesBefore: [],
        scopes: ['a'],
      }),
    ],
    refused: (db: Db) => on(db).change(ada, 'acc_off', 42, { scopes: ['a'] }),
  },
  'api_key.disabled': {
    change: (db: Db) => on(db).change(ada, 'acc_ada', 42, { disabled: true }),
    rows: [row('api_key.disabled', { reason: 'owner' })],
    refused: (db: Db) => on(db).change(ada, 'acc_off', 42, { disabled: true }),
  },
  'api_key.enabled': {
    change: async (db: Db) => {
      await on(db).change(ada, 'acc_ada', 42, { disabled: true });
      await on(db).change(ada, 'acc_ada', 42, { disabled: false });
    },
    rows: [row('api_key.disabled', { reason: 'owner' }), row('api_key.enabled', {})],
    refused: (db: Db) => on(db).change(ada, 'acc_ada', 42, { disabled: false }),
  },
  'api_key.rotated': {
    change: (db: Db) => on(db).rotate(ada, 'acc_ada', 42, overlap),
    rows: [row('api_key.rotated', { overlapSeconds: 60 })],
    refused: (db: Db) => on(db).rotate(ada, 'acc_off', 42, overlap),
  },
  'api_key.leaked': {
    change: (db: Db) => leaksOn(db).report({ kind: 'possessor', from: '192.0.2.0/24' }, [{ text: heldText }]),
    rows: [
      {
        ...row('api_key.leaked', {
          secret: 'current',
          by: 'possessor',
          from: '192.0.2.0/24',
          hash: keys.apiKeyHash.stored(heldText).toString('hex'),
        }),
        actor: 'possessor',
      },
    ],
    refused: (db: Db) => leaksOn(db).report({ kind: 'possessor', from: null }, [{ text: makeKey('krv').reveal() }]),
  },
  'api_key.previous_ended': {
    change: async (db: Db) => {
      await on(db).rotate(ada, 'acc_ada', 42, overlap);
      await on(db).endPrevious(ada, 'acc_ada', 42);
    },
    rows: [row('api_key.rotated', { overlapSeconds: 60 }), row('api_key.previous_ended', {})],
    refused: (db: Db) => on(db).endPrevious(ada, 'acc_ada', 42),
  },
} as const;
