/**
 * An account's deletion or disabling that may have been committed: its keys and tokens are answered neither yes nor no
 * until it is known to have happened.
 */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { readConfig } from '../../../app/config.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { listAuditEvents } from '../../../../test-kit/audit-trail.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { wire } from '../../../app/wiring.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { keys, operator } from '../../../../test-kit/rows.ts';

const waitMsMax = 10_000;
const password = 'wombat orbit velvet 42';

/** What is said of a credential: true, false, or the code of the refusal to say. */
const said = (verdict: Promise<{ valid: boolean }>): Promise<unknown> =>
  verdict.then(
    ({ valid }) => valid,
    (error: unknown) => codeOf(error),
  );

for (const change of ['delete', 'disable'] as const) {
  for (const state of ['cut before', 'cut after'] as const) {
    onEachDatabase(
      `to ${change} an account whose connection was ${state} the commit is finished before it is answered again`,
      async ({ db }) => {
        const line = new Line();
        const installation = { db: behind(db, line), keys, migrated: [] };
        const config = readConfig({});
        const services = wire({ config, installation, clock: new FakeClock(), issuer: 'http://localhost' });
        const { accounts, apiKeys, tokens, verifier, signingKeys } = services;
        await signingKeys.ensure();
        const make = async (email: string) => {
          const { id } = await accounts.create(operator, email, new Secret(password), 'user');
          const { secret } = await apiKeys.create(operator, id, { nickname: 'key' });
          const client = { clientIp: '192.0.2.1', userAgent: '' };
          const { accessToken } = await tokens.signIn(email, new Secret(password), client);
          return { id, key: secret.reveal(), accessToken };
        };
        const [doubtful, other] = [await make('ada@example.com'), await make('bob@example.com')];

        line.state = state;
        await assert.rejects(accounts[change](operator, doubtful.id), (error) => codeOf(error) === 'unavailable');
        for (let round = 0; round < 20; round++) {
          for (const credential of [doubtful.key, doubtful.accessToken]) {
            // Gone is gone; what is still there may be on its way out.
            assert.equal(await said(verifier.verify(credential)), state === 'cut after' ? false : 'unavailable');
          }
          for (const credential of [other.key, other.accessToken])
            assert.equal(await said(verifier.verify(credential)), true, 'others are answered');
          await turn();
        }

        line.state = 'whole';
        const deadline = performance.now() + waitMsMax;
        while ((await said(verifier.verify(doubtful.key))) !== false) {
          assert.ok(performance.now() < deadline, 'it was never finished');
          await turn();
        }
        assert.equal(await said(verifier.verify(doubtful.accessToken)), false);
        const done = (await listAuditEvents(db)).filter(({ action }) => action === `account.${change}d`);
        assert.deepEqual(
          done.map(({ target }) => target),
          [doubtful.id],
        );
      },
    );
  }
}
