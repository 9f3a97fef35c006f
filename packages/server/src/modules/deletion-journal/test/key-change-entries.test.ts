/** The entries that changes of keys write before their response. */
import assert from 'node:assert/strict';
import type { KeyChanges } from '../../api-keys/changes.ts';
import type { Principal } from '../../../foundation/principal.ts';
import type { Revocation } from '../revocation.ts';
import { newKeyChanges } from '../../../../test-kit/new-key-changes.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, now, operator } from '../../../../test-kit/rows.ts';

const rotation = { overlapSeconds: 60, endPrevious: true };
type Change = (changes: KeyChanges, by: Principal) => Promise<unknown>;
const changeTo =
  (request: object): Change =>
  (changes, by) =>
    changes.change(by, 'acc_ada', 42, request);

/** In this order, on one key. */
const steps: readonly (readonly [what: string, change: Change, entries: readonly Revocation['kind'][]])[] = [
  ['a nickname', changeTo({ nickname: 'b' }), []],
  ['metadata', changeTo({ metadata: { a: 1 } }), []],
  ['a further scope', changeTo({ scopes: ['a', 'b', 'c'] }), []],
  ['another order of scopes', changeTo({ scopes: ['c', 'b', 'a'] }), []],
  ['a scope less', changeTo({ scopes: ['d', 'a', 'b'] }), ['api_key_narrowed']],
  ['an expiry', changeTo({ expiresAt: now + 1_000 }), ['api_key_narrowed']],
  ['a later expiry', changeTo({ expiresAt: now + 2_000 }), []],
  ['an earlier expiry', changeTo({ expiresAt: now + 1_500 }), ['api_key_narrowed']],
  ['no expiry', changeTo({ expiresAt: null }), []],
  ['IP ranges', changeTo({ addresses: ['192.0.2.0/24'] }), ['api_key_narrowed']],
  ['other IP ranges', changeTo({ addresses: ['192.0.2.0/25'] }), ['api_key_narrowed']],
  ['the same IP ranges', changeTo({ addresses: ['192.0.2.0/25'] }), []],
  ['any IP address', changeTo({ addresses: null }), []],
  ['a rotation', (changes, by) => changes.rotate(by, 'acc_ada', 42, rotation), ['api_key_narrowed']],
  [
    'a rotation with endCurrent',
    (changes, by) => changes.rotate(by, 'acc_ada', 42, { endCurrent: true }),
    ['api_key_narrowed'],
  ],
  ['the end of the overlap', (changes, by) => changes.endPrevious(by, 'acc_ada', 42), ['api_key_narrowed']],
  [
    'a disabling with a scope less',
    changeTo({ disabled: true, scopes: ['a'] }),
    ['api_key_narrowed', 'api_key_disabled_by_administrator'],
  ],
  ['an enabling', changeTo({ disabled: false }), []],
];

onEachDatabase(
  'a change that removes rights from a key has an entry with its time, and no other change has one',
  async ({ db }) => {
    await addAccount(db);
    await addKey(db, 'acc_ada', 'a', { id: 42, scopes: ['a', 'b'] });
    let entries: Revocation[] = [];
    const changes = newKeyChanges(
      db,
      { now: () => now },
      {
        record: async (recorded) => void entries.push(...recorded),
        recordChanges: () => Promise.resolve(),
        catchUpSoon: () => undefined,
      },
    );
    for (const [what, change, kinds] of steps) {
      entries = [];
      await change(changes, operator);
      const { updatedAt: at } = await changes.read('acc_ada', 42);
      assert.deepEqual(
        entries,
        kinds.map((kind) => ({ kind, id: '42', at })),
        what,
      );
    }
  },
);
