/** Changes that delete an account's API keys, when the database connection breaks at their commit. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { dayMs } from '../../../foundation/clock.ts';
import type { CodePurpose } from '../../one-time-codes/one-time-codes.ts';
import { insertCodeTx } from '../../one-time-codes/store.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { wire, type Services } from '../../../app/wiring.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addSession, keys, now, operator } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';

const argon2 = { memoryKib: 64, passes: 1, lanes: 1 };
const clientIp = '192.0.2.1';
const password = new Secret('wombat orbit velvet 42');
const newPassword = new Secret('pelican harbour quartz 7');
const unverify = sql('test_unverify_account', `update accounts set unverified_since = 1 where id = $1`);

/** Creates the rows that the change needs. @returns the change */
type Prepare = (services: Services, db: Db, id: string) => Promise<() => Promise<unknown>>;

async function codeFor({ codes, hasher }: Services, db: Db, id: string, purpose: CodePurpose): Promise<string> {
  const { text, hash } = codes.make();
  const passwordHash = await hasher.hash(password.reveal());
  await db.transaction((tx) =>
    insertCodeTx(tx, { hash, purpose, accountId: id, passwordHash, now, expiresAt: now + dayMs }),
  );
  return text.reveal();
}

const changes: Readonly<Record<string, Prepare>> = {
  'an email verification': async (services, db, id) => {
    await db.transaction((tx) => tx.run(unverify, [id]));
    const code = await codeFor(services, db, id, 'verify_email');
    return () => services.selfService.emailVerification.verify(code, password, clientIp);
  },
  'a reset that deletes the keys': async (services, db, id) => {
    const code = await codeFor(services, db, id, 'reset_password');
    return () =>
      services.selfService.passwordReset.confirm(code, { password: newPassword, revokesKeys: true, clientIp });
  },
  'an accepted invitation of an unverified account': async (services, db, id) => {
    await db.transaction((tx) => tx.run(unverify, [id]));
    const code = await codeFor(services, db, id, 'accept_invitation');
    return () => services.selfService.passwordReset.acceptInvitation(code, newPassword, clientIp);
  },
  'a password change that deletes the keys': async (services, db, id) => {
    const { id: sessionId } = await addSession(db, id, 'own');
    const principal = { kind: 'account', accountId: id, sessionId } as const;
    const change = { currentPassword: password, newPassword, revokesKeys: true, clientIp };
    return () => services.selfService.own.changePassword(principal, change);
  },
};

for (const [what, prepare] of Object.entries(changes)) {
  for (const state of ['cut before', 'cut after'] as const) {
    onEachDatabase(
      `${what} with a connection ${state} its commit completes before a key of the account is verified again`,
      async ({ db }) => {
        const line = new Line();
        const installation = { db: behind(db, line), keys, migrated: [] };
        const config = testConfig({ KEYREEVE_THROTTLE: 'off' });
        const services = wire({
          config,
          installation,
          clock: new FakeClock(),
          issuer: 'http://localhost',
          argon2,
          // The connection must break at the change, not at the rate limit before it.
          areRequestsLimited: false,
          requestedMailDelayMsMax: 0,
        });
        const { accounts, apiKeys, verifier } = services;
        const createWithKey = async (email: string) => {
          const { id } = await accounts.create(operator, email, password, 'user');
          return { id, key: await apiKeys.create(operator, id, { nickname: 'key' }) };
        };
        const [affected, other] = [await createWithKey('ada@example.com'), await createWithKey('bob@example.com')];
        const change = await prepare(services, db, affected.id);
        const result = () =>
          verifier.verify(affected.key.secret.reveal()).then(
            ({ valid }) => valid,
            (error: unknown) => codeOf(error),
          );

        line.state = state;
        await assert.rejects(change(), (error) => codeOf(error) === 'unavailable');
        for (let round = 0; round < 20; round++) {
          // A key that still exists may be about to be deleted, so the server answers neither yes nor no.
          assert.equal(await result(), state === 'cut after' ? false : 'unavailable');
          assert.equal(
            (await verifier.verify(other.key.secret.reveal())).valid,
            true,
            'other accounts are not affected',
          );
          await turn();
        }

        line.state = 'whole';
        line.commits = 0;
        await until('the change is completed', async () => (await result()) === false && line.commits > 0);
        const deleted = (await listAuditEvents(db)).filter(({ action }) => action === 'api_key.deleted');
        assert.deepEqual(
          deleted.map(({ target }) => target),
          [String(affected.key.id)],
        );
      },
    );
  }
}
