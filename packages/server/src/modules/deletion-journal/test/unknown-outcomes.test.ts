/**
 * The connection to the database breaks at the commit of a change that removes rights: the server answers 503 for the
 * affected credentials until it has repeated the change. `run-narrowing.test.ts` has the parts of this protocol.
 */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { addSession, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { until } from '../../../../test-kit/until.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import { dayMs } from '../../../foundation/clock.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { insertEmailChangeTx } from '../../accounts/email-change-store.ts';
import type { CodePurpose } from '../../one-time-codes/one-time-codes.ts';
import { insertCodeTx } from '../../one-time-codes/store.ts';

const argon2 = { memoryKib: 64, passes: 1, lanes: 1 };
const clientIp = '192.0.2.1';
const mail = {
  KEYREEVE_SMTP_URL: 'smtp://localhost:25',
  KEYREEVE_MAIL_FROM: 'Keyreeve <no-reply@example.com>',
  KEYREEVE_LINKS_URL: 'https://example.com',
};
const password = new Secret('wombat orbit velvet 42');
const newPassword = new Secret('pelican harbour quartz 7');
const oldEmail = { email: 'old@example.com', canonicalEmail: 'old@example.com' };
const unverify = sql('test_unverify_account', `update accounts set unverified_since = 1 where id = $1`);

interface Affected {
  readonly services: Services;
  readonly db: Db;
  readonly id: string;
  readonly keyId: number;
  readonly key: string;
}

/** The change, and its audit events, each once. */
type Row = readonly [change: (affected: Affected) => Promise<unknown>, ...actions: string[]];

async function codeFor({ services, db, id }: Affected, purpose: CodePurpose): Promise<string> {
  const { text, hash } = services.codes.make();
  const passwordHash = await services.hasher.hash(password.reveal());
  const code = { hash, purpose, accountId: id, email: oldEmail, passwordHash, now, expiresAt: now + dayMs };
  await db.transaction((tx) => insertCodeTx(tx, code));
  return text.reveal();
}

async function undo(affected: Affected): Promise<unknown> {
  const { services, db, id: accountId } = affected;
  const text = await codeFor(affected, 'undo_email_change');
  await db.transaction((tx) => insertEmailChangeTx(tx, { accountId, ...oldEmail, changedAt: now }));
  return services.selfService.emailUndo.undo(text, oldEmail.email, true);
}

async function verify(affected: Affected): Promise<unknown> {
  await affected.db.transaction((tx) => tx.run(unverify, [affected.id]));
  const text = await codeFor(affected, 'verify_email');
  return affected.services.selfService.emailVerification.verify(text, password, clientIp);
}

async function reset(affected: Affected): Promise<unknown> {
  const text = await codeFor(affected, 'reset_password');
  const change = { password: newPassword, revokesKeys: true, clientIp };
  return affected.services.selfService.passwordReset.confirm(text, change);
}

async function acceptInvitation(affected: Affected): Promise<unknown> {
  await affected.db.transaction((tx) => tx.run(unverify, [affected.id]));
  const text = await codeFor(affected, 'accept_invitation');
  return affected.services.selfService.passwordReset.acceptInvitation(text, newPassword, clientIp);
}

async function changePassword({ services, db, id }: Affected): Promise<unknown> {
  const { id: sessionId } = await addSession(db, id, 'own');
  const change = { currentPassword: password, newPassword, revokesKeys: true, clientIp };
  return services.selfService.own.changePassword({ kind: 'account', accountId: id, sessionId }, change);
}

const recover = ({ services, id }: Affected) => services.administration.recoverAccount(operator, id);

const changes: Readonly<Record<string, Row>> = {
  'deleting a key': [({ services, id, keyId }) => services.apiKeys.delete(operator, id, keyId), 'api_key.deleted'],
  'deleting an account': [({ services, id }) => services.accounts.delete(operator, id), 'account.deleted'],
  'disabling an account': [({ services, id }) => services.accounts.disable(operator, id), 'account.disabled'],
  'deleting all keys': [({ services, id }) => services.administration.revokeKeys(operator, id), 'api_key.deleted'],
  'recovering an account': [recover, 'account.compromised', 'api_key.deleted'],
  'a report of a leak': [({ services, key }) => services.leaks.report(operator, [{ text: key }]), 'api_key.leaked'],
  'undoing an email change': [undo, 'account.email_change_undone', 'api_key.deleted'],
  'an email verification': [verify, 'api_key.deleted'],
  'a reset that deletes the keys': [reset, 'api_key.deleted'],
  'an accepted invitation of an unverified account': [acceptInvitation, 'api_key.deleted'],
  'a password change that deletes the keys': [changePassword, 'api_key.deleted'],
};

function serviceOn(db: Db, line: Line): Services {
  return wireOn(behind(db, line), {
    config: testConfig({ ...mail, KEYREEVE_THROTTLE: 'off' }),
    argon2,
    // The connection must break at the change, not at the rate limit before it.
    areRequestsLimited: false,
    requestedMailDelayMsMax: 0,
  });
}

/** @returns whether the credential is valid, or the code of the error */
const outcomeOf = ({ verifier }: Services, credential: string): Promise<unknown> =>
  verifier.verify(credential).then(({ valid }) => valid, codeOf);

async function createAccount({ accounts, apiKeys, tokenPairs }: Services, email: string) {
  const { id } = await accounts.create(operator, email, password, 'user');
  const { id: keyId, secret } = await apiKeys.create(operator, id, { nickname: 'key' });
  const { accessToken } = await tokenPairs.signIn(email, password, { clientIp, userAgent: '' });
  return { id, keyId, key: secret.reveal(), accessToken };
}

for (const [what, [change, ...actions]] of Object.entries(changes)) {
  for (const state of ['cut before', 'cut after'] as const) {
    onEachDatabase(
      `${what} with a connection ${state} its commit completes before a key of the account is verified again`,
      async ({ db }) => {
        const line = new Line();
        const services = serviceOn(db, line);
        await services.signingKeys.ensure();
        const affected = await createAccount(services, 'ada@example.com');
        const other = await createAccount(services, 'bob@example.com');
        line.state = state;
        await assert.rejects(change({ services, db, ...affected }), (error) => codeOf(error) === 'unavailable');
        // A key that still exists may be about to be deleted, so the server answers neither yes nor no.
        assert.equal(await outcomeOf(services, affected.key), state === 'cut after' ? false : 'unavailable');
        if (actions[0]?.startsWith('account.')) assert.notEqual(await outcomeOf(services, affected.accessToken), true);
        for (const credential of [other.key, other.accessToken])
          assert.equal(await outcomeOf(services, credential), true, 'other accounts are not affected');

        [line.commits, line.confirmations] = [0, 0];
        line.state = 'whole';
        // A repetition that finds nothing to change is rejected, or commits no change.
        await until('the change is repeated', () => line.commits + line.confirmations > 0);
        assert.equal(await outcomeOf(services, affected.key), false);
        const recorded = (await listAuditEvents(db)).map(({ action }) => action);
        assert.deepEqual(recorded.filter((action) => actions.includes(action)).toSorted(), actions, 'each once');
      },
    );
  }
}

for (const state of ['cut before', 'cut after'] as const)
  onEachDatabase(
    `verifications of an account’s keys return 503 while the outcome of a change of role is unknown: ${state}`,
    async ({ db }) => {
      const line = new Line();
      const services = serviceOn(db, line);
      const { id } = await services.accounts.create(operator, 'ada@example.com', password, 'admin');
      const { id: sessionId } = await addSession(db, id, 'one');
      const ada = { kind: 'account', accountId: id, sessionId, role: 'admin', signedInAt: now } as const;
      const request = { nickname: 'a', scopes: ['keyreeve:verify'] };
      const key = (await services.apiKeys.create(ada, id, request)).secret.reveal();
      assert.equal(await outcomeOf(services, key), true);
      line.state = state;
      await assert.rejects(services.accounts.setRole(operator, id, 'user'), (error) => codeOf(error) === 'unavailable');
      assert.equal(await outcomeOf(services, key), 'unavailable');
    },
  );
