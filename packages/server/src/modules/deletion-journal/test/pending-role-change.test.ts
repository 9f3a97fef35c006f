/** A change of role of unknown outcome: verifications of the account's keys return 503 until it is known. */
import assert from 'node:assert/strict';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { wire } from '../../../app/wiring.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addSession, keys, operator } from '../../../../test-kit/rows.ts';

for (const state of ['cut before', 'cut after'] as const) {
  onEachDatabase(
    `verifications of an account’s keys return 503 while the outcome of a change of role is unknown: ${state}`,
    async ({ db }) => {
      const [line, clock] = [new Line(), new FakeClock()];
      const installation = { db: behind(db, line), keys, migrated: [] };
      const config = testConfig();
      const { accounts, apiKeys, verifier } = wire({ config, installation, clock, issuer: 'http://localhost' });
      const accountId = await addAccount(db, 'ada', 'admin');
      await addSession(db, accountId, 'one');
      const ada = {
        kind: 'account',
        accountId,
        sessionId: 'ses_one',
        role: 'admin',
        signedInAt: clock.now(),
      } as const;
      const { secret } = await apiKeys.create(ada, accountId, { nickname: 'a', scopes: ['keyreeve:verify'] });
      assert.equal((await verifier.verify(secret.reveal())).valid, true);
      line.state = state;
      await assert.rejects(accounts.setRole(operator, accountId, 'user'), (error) => codeOf(error) === 'unavailable');
      await assert.rejects(verifier.verify(secret.reveal()), (error) => codeOf(error) === 'unavailable');
    },
  );
}
