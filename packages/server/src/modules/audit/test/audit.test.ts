/**
 * Every change writes its audit event in the same commit. Each operation is tested when it succeeds, when it is
 * rejected and when the event cannot be written.
 */
import assert from 'node:assert/strict';
import { replacePasswordHash, setPasswordHash } from '../../accounts/credentials-store.ts';
import * as accounts from '../../accounts/store.ts';
import { createKey } from '../../api-keys/new-key.ts';
import type { Principal } from '../../../foundation/principal.ts';
import type { AuditAction } from '../audit.ts';
import type { AuditRow } from '../chain.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import * as signingKeys from '../../signing-keys/store.ts';
import * as tokens from '../../sessions/store.ts';
import { administration } from './audited-administration.ts';
import { addEndpoints, webhookOperations } from './audited-webhooks.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { factorOperations } from './audited-factors.ts';
import { passkeyOperations } from './audited-passkeys.ts';
import { heldText, keyOperations } from './audited-keys.ts';
import { addScopes, scopeOperations } from './audited-scopes.ts';
import {
  addAccount,
  addKey,
  addSession,
  addSigningKey,
  keys,
  newKey,
  newSession,
  newSigningKey,
  now,
  operator,
  auditEventsOf,
} from '../../../../test-kit/rows.ts';
import { deleteAccount, deleteKey, disableAccount } from '../../../../test-kit/store-changes.ts';

const ada: Principal = { kind: 'account', accountId: 'acc_ada', sessionId: 'ses_one' };

interface Operation {
  readonly change: (db: Db) => Promise<unknown>;
  /** The recorded events, without their times. */
  readonly rows: readonly Omit<AuditRow, 'at'>[];
  /** The same operation in a case in which it is rejected, by a value or an error. */
  readonly refused: (db: Db) => Promise<unknown>;
}

const row = (
  actor: string,
  action: AuditAction,
  accountId: string | null,
  target: string | null,
): Omit<AuditRow, 'at'> => ({ actor, action, accountId, target, details: null });
const aboutAda = (action: AuditAction, actor = 'operator') => [row(actor, action, 'acc_ada', 'acc_ada')];

const account = (id: string, canonicalEmail: string): accounts.NewAccount => ({
  id,
  email: canonicalEmail,
  canonicalEmail,
  passwordHash: 'phc',
  role: 'admin',
  now,
});
const rotation = (generation: number): tokens.Rotation => ({
  sessionId: 'ses_one',
  generation,
  tokenHash: keys.refreshTokenHash.stored(`one ${generation}`),
  successorHash: keys.refreshTokenHash.stored(`one ${generation + 1}`),
  now,
  issuedUntil: now,
  idleExpiresAt: now + 1_000,
});

const anyone = (): Promise<void> => Promise.resolve();

type OfItself =
  | 'account.verification_requested'
  | 'account.verified'
  | 'account.email_change_requested'
  | 'account.email_changed'
  | 'account.email_change_undone'
  | 'account.password_reset_requested';

/**
 * By action, so that a new action does not compile without a test. `prepare` adds the initial rows. Actions on a whole
 * installation are in `backup.test.ts` and `move.test.ts`, those of an account on itself in `account-events.test.ts`, those of service accounts in
 * `service-accounts.test.ts`, expiry
 * notices in `expiry-notices.test.ts`, copied passkeys in `passkeys/test/sign-in.test.ts`, used-up quotas in `quota-notices.test.ts`,
 * cuts in `audit-retention/test/audit-retention.test.ts`, identities in `single-sign-on/test/sign-in.test.ts`, issuers in `issuers/test/issuers.test.ts`, identified keys in `administration/test/find-key.test.ts`,
 * programs in `programs/test/programs.test.ts`, approvals in `approvals/test/approvals.test.ts`, portal
 * sessions in `portal/test/sessions.test.ts`.
 */
const operations: Readonly<
  Record<
    Exclude<
      AuditAction,
      | `service_account.${string}`
      | `installation.${string}`
      | `issuer.${string}`
      | 'audit.cut'
      | 'passkey.counter_regressed'
      | `identity.${string}`
      | 'api_key.expiring'
      | 'api_key.identified'
      | `program.${string}`
      | `approval.${string}`
      | `portal_session.${string}`
      | `${string}.quota_reached`
      | OfItself
    >,
    Operation
  >
> = {
  ...administration,
  ...scopeOperations,
  ...passkeyOperations,
  'account.created': {
    change: (db) => accounts.createAccount(db, operator, account('acc_new', 'new@example.com')),
    rows: [{ ...row('operator', 'account.created', 'acc_new', null), details: '{"role":"admin"}' }],
    refused: (db) => accounts.createAccount(db, operator, account('acc_new', 'ada@example.com')),
  },
  'account.deleted': {
    change: (db) => deleteAccount(db, { principal: operator, now }, 'acc_ada'),
    rows: aboutAda('account.deleted'),
    refused: (db) => deleteAccount(db, { principal: operator, now }, 'acc_unknown'),
  },
  'account.disabled': {
    change: (db) => disableAccount(db, { principal: operator, now }, 'acc_ada'),
    rows: aboutAda('account.disabled'),
    refused: (db) => disableAccount(db, { principal: operator, now }, 'acc_off'),
  },
  'account.enabled': {
    change: (db) => accounts.enableAccount(db, { principal: operator, now }, 'acc_off'),
    rows: [row('operator', 'account.enabled', 'acc_off', 'acc_off')],
    // Enabling an enabled account counts, so that it overrides a disabling of unknown outcome (`enabled_count`).
    refused: (db) => accounts.enableAccount(db, { principal: operator, now }, 'acc_unknown'),
  },
  'account.password_set': {
    change: (db) => setPasswordHash(db, operator, { id: 'acc_ada', hash: 'new', now }),
    rows: aboutAda('account.password_set'),
    refused: (db) => setPasswordHash(db, operator, { id: 'acc_unknown', hash: 'new', now }),
  },
  'account.password_rehashed': {
    change: (db) => replacePasswordHash(db, { id: 'acc_ada', passwordHash: 'phc' }, 'newer', now),
    rows: aboutAda('account.password_rehashed', 'system'),
    refused: (db) => replacePasswordHash(db, { id: 'acc_ada', passwordHash: 'another' }, 'newer', now),
  },
  'account.language_changed': {
    change: (db) => accounts.setLanguage(db, operator, 'acc_ada', { language: 'de', now, guard: anyone }),
    rows: [{ ...row('operator', 'account.language_changed', 'acc_ada', 'acc_ada'), details: '{"language":"de"}' }],
    refused: (db) => accounts.setLanguage(db, operator, 'acc_unknown', { language: 'de', now, guard: anyone }),
  },
  'session.created': {
    change: (db) => tokens.createSession(db, newSession('acc_ada', 'new'), 50),
    rows: [row('account:acc_ada', 'session.created', 'acc_ada', 'ses_new')],
    refused: (db) => tokens.createSession(db, newSession('acc_off', 'new', { accountEpoch: 1 }), 50),
  },
  'session.evicted': {
    change: (db) => tokens.createSession(db, newSession('acc_ada', 'new', { now: now + 1 }), 1),
    rows: [
      row('account:acc_ada', 'session.created', 'acc_ada', 'ses_new'),
      row('account:acc_ada', 'session.evicted', 'acc_ada', 'ses_one'),
    ],
    refused: (db) => tokens.createSession(db, newSession('acc_ada', 'new', { accountEpoch: 7 }), 1),
  },
  'session.ended': {
    change: (db) => tokens.endSession(db, { principal: ada, now }, 'ses_one'),
    rows: [row('account:acc_ada', 'session.ended', 'acc_ada', 'ses_one')],
    refused: (db) => tokens.endSession(db, { principal: ada, now }, 'ses_unknown'),
  },
  'session.reuse_detected': {
    change: (db) => tokens.endSession(db, { principal: { kind: 'system' }, now }, 'ses_one', 'session.reuse_detected'),
    rows: [row('system', 'session.reuse_detected', 'acc_ada', 'ses_one')],
    refused: (db) =>
      tokens.endSession(db, { principal: { kind: 'system' }, now }, 'ses_unknown', 'session.reuse_detected'),
  },
  'api_key.created': {
    change: (db) => createKey(db, ada, newKey('acc_ada', 'new', { id: 43, scopes: ['a'] }), { keysMax: 100 }),
    rows: [
      { ...row('account:acc_ada', 'api_key.created', 'acc_ada', '43'), details: '{"nickname":"new","scopes":["a"]}' },
    ],
    refused: (db) => createKey(db, ada, newKey('acc_ada', 'held', { id: 43 }), { keysMax: 100 }),
  },
  'api_key.deleted': {
    change: (db) => deleteKey(db, { principal: ada, now }, 'acc_ada', 42),
    rows: [{ ...row('account:acc_ada', 'api_key.deleted', 'acc_ada', '42'), details: '{"nickname":"held"}' }],
    refused: (db) => deleteKey(db, { principal: ada, now }, 'acc_off', 42),
  },
  'signing_key.created': {
    change: (db) => signingKeys.createFirstSigningKey(db, newSigningKey('first', { alg: 'EdDSA' })),
    rows: [row('system', 'signing_key.created', null, 'first')],
    refused: (db) => signingKeys.createFirstSigningKey(db, newSigningKey('first')),
  },
  'signing_key.revoked': {
    change: (db) => signingKeys.replaceSigningKeys(db, operator, newSigningKey('next')),
    rows: [row('operator', 'signing_key.created', null, 'next'), row('operator', 'signing_key.revoked', null, 'kid')],
    refused: (db) => signingKeys.replaceSigningKeys(db, operator, newSigningKey('kid')),
  },
  ...factorOperations,
  ...webhookOperations,
  ...keyOperations,
};

/** Adds Ada with a session and a key, a disabled account, and a signing key. */
async function prepare(db: Db): Promise<void> {
  await addAccount(db, 'ada');
  await addSession(db, 'acc_ada', 'one');
  await addKey(db, 'acc_ada', 'held', { id: 42, hash: keys.apiKeyHash.stored(heldText) });
  await addAccount(db, 'off');
  await disableAccount(db, { principal: operator, now }, 'acc_off');
  await addSigningKey(db, 'kid');
  await addEndpoints(db);
  await addScopes(db);
}

const tables = [
  'accounts',
  'sessions',
  'api_keys',
  'api_key_secrets',
  'scopes',
  'signing_keys',
  'rate_limit_buckets',
  'one_time_codes',
  'second_factors',
  'recovery_codes',
  'webhook_endpoints',
  'outbox',
  'webhook_progress',
];

/** The contents of all tables except the audit log. */
const contents = async (db: Db): Promise<string> =>
  JSON.stringify(await Promise.all(tables.map((name) => db.all(sql(`test_all_${name}`, `select * from ${name}`)))));

const renameTrail = (db: Db, from: string, to: string): Promise<number> =>
  db.transaction((tx) => tx.run(sql(`test_rename_${from}`, `alter table ${from} rename to ${to}`)));

onEachDatabase('a refresh is the only change without an event', async ({ db }) => {
  await prepare(db);
  const before = await contents(db);
  const recorded = await auditEventsOf(db, () => tokens.rotateRefreshToken(db, rotation(1)));
  assert.deepEqual(recorded, []);
  assert.notEqual(await contents(db), before);
});

for (const [action, { change, rows, refused }] of Object.entries(operations)) {
  onEachDatabase(`${action} is recorded once with its actor, and not when it is rejected`, async ({ db }) => {
    await prepare(db);
    const before = await contents(db);
    const recordedWhenRefused = await auditEventsOf(db, () => refused(db).catch(() => undefined));
    assert.deepEqual(recordedWhenRefused, []);
    assert.equal(await contents(db), before, 'a refusal changes nothing');

    const recorded = await auditEventsOf(db, () => change(db));
    assert.notEqual(await contents(db), before);
    assert.deepEqual(
      recorded.map(({ at, ...rest }) => {
        assert.ok(at >= now && at <= now + 2);
        return { ...rest };
      }),
      rows,
    );
  });

  onEachDatabase(`${action} does not happen if it cannot be recorded`, async ({ db }) => {
    await prepare(db);
    const before = await contents(db);
    const trail = await listAuditEvents(db);
    await renameTrail(db, 'audit_events', 'audit_events_away');
    await assert.rejects(change(db), (error) => codeOf(error) === 'unavailable');
    await renameTrail(db, 'audit_events_away', 'audit_events');
    assert.equal(await contents(db), before);
    assert.deepEqual(await listAuditEvents(db), trail);
  });
}

onEachDatabase('the audit log is in the order of commits', { tags: ['asvs:16.2.1'] }, async ({ db }) => {
  await prepare(db);
  const actions = (await listAuditEvents(db)).map(
    ({ action, target, accountId }) => `${action} ${target ?? accountId}`,
  );
  assert.deepEqual(actions, [
    'account.created acc_ada',
    'session.created ses_one',
    'api_key.created 42',
    'account.created acc_off',
    'account.disabled acc_off',
    'signing_key.created kid',
    'webhook.created whe_on',
    'webhook.created whe_off',
    'webhook.disabled whe_off',
    'account.created acc_eve',
    'scope.set held',
    'account.entitlements_set acc_eve',
  ]);
});
