/**
 * Deleting or disabling an account when the database connection breaks at the commit: the server answers 503 for the
 * account's credentials until it has repeated the change.
 */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { wire } from '../../../app/wiring.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { keys, operator } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';

const password = 'wombat orbit velvet 42';

/** @returns whether the credential is valid, or the code of the error */
const resultOf = (verification: Promise<{ valid: boolean }>): Promise<unknown> =>
  verification.then(
    ({ valid }) => valid,
    (error: unknown) => codeOf(error),
  );

for (const change of ['delete', 'disable'] as const) {
  for (const state of ['cut before', 'cut after'] as const) {
    onEachDatabase(
      `a change to ${change} an account with a connection ${state} its commit completes before its credentials are verified again`,
      async ({ db }) => {
        const line = new Line();
        const installation = { db: behind(db, line), keys, migrated: [] };
        const config = testConfig();
        const services = wire({ config, installation, clock: new FakeClock(), issuer: 'http://localhost' });
        const { accounts, apiKeys, tokens, verifier, signingKeys } = services;
        await signingKeys.ensure();
        const createAccount = async (email: string) => {
          const { id } = await accounts.create(operator, email, new Secret(password), 'user');
          const { secret } = await apiKeys.create(operator, id, { nickname: 'key' });
          const client = { clientIp: '192.0.2.1', userAgent: '' };
          const { accessToken } = await tokens.signIn(email, new Secret(password), client);
          return { id, key: secret.reveal(), accessToken };
        };
        const [affected, other] = [await createAccount('ada@example.com'), await createAccount('bob@example.com')];

        line.state = state;
        await assert.rejects(accounts[change](operator, affected.id), (error) => codeOf(error) === 'unavailable');
        for (let round = 0; round < 20; round++) {
          for (const credential of [affected.key, affected.accessToken]) {
            // A credential that still works may be about to be revoked, so the server answers neither yes nor no.
            assert.equal(await resultOf(verifier.verify(credential)), state === 'cut after' ? false : 'unavailable');
          }
          for (const credential of [other.key, other.accessToken])
            assert.equal(await resultOf(verifier.verify(credential)), true, 'other accounts are not affected');
          await turn();
        }

        line.state = 'whole';
        const isRejected = async () => (await resultOf(verifier.verify(affected.key))) === false;
        await until('the change is completed', isRejected);
        assert.equal(await resultOf(verifier.verify(affected.accessToken)), false);
        const done = (await listAuditEvents(db)).filter(({ action }) => action === `account.${change}d`);
        assert.deepEqual(
          done.map(({ target }) => target),
          [affected.id],
        );
      },
    );
  }
}
