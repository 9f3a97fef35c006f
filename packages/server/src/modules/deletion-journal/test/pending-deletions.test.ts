/** A deletion of unknown outcome: verifications of the key return 503 until the deletion is known to be committed. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { wire } from '../../../app/wiring.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, keys, operator } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';

for (const state of ['cut before', 'cut after'] as const) {
  onEachDatabase(
    `a deletion whose connection was ${state} its commit is finished before its key is verified again`,
    async ({ db }) => {
      const line = new Line();
      const clock = new FakeClock();
      const installation = { db: behind(db, line), keys, migrated: [] };
      const { apiKeys, verifier } = wire({ config: testConfig(), installation, clock, issuer: 'http://localhost' });
      const accountId = await addAccount(db);
      const [key, other] = [
        await apiKeys.create(operator, accountId, { nickname: 'doubtful' }),
        await apiKeys.create(operator, accountId, { nickname: 'other' }),
      ];

      line.state = state;
      await assert.rejects(apiKeys.delete(operator, accountId, key.id), (error) => codeOf(error) === 'unavailable');
      for (let round = 0; round < 20; round++) {
        const outcome = await verifier.verify(key.secret.reveal()).then(
          (result) => result.valid,
          (error: unknown) => codeOf(error),
        );
        // Gone is gone; what is still there may be on its way out.
        assert.equal(outcome, state === 'cut after' ? false : 'unavailable');
        assert.equal((await verifier.verify(other.secret.reveal())).valid, true, 'others are answered');
        const many = await verifier.verifyMany(
          [...[key, other].map(({ secret }) => ({ text: secret.reveal() })), { text: 'x' }],
          assert.ok,
        );
        assert.deepEqual(
          many.map((result) => (result.valid ? 'valid' : result.code)),
          [state === 'cut after' ? 'not_found' : 'unavailable', 'valid', 'malformed'],
          'in a batch too',
        );
        await turn();
      }

      line.state = 'whole';
      const resultOf = () => verifier.verify(key.secret.reveal()).catch(() => undefined);
      await until('the deletion is finished', async () => (await resultOf()) !== undefined);
      assert.deepEqual(await resultOf(), { valid: false, code: 'not_found' });
      const deletions = (await listAuditEvents(db)).filter(({ action }) => action === 'api_key.deleted');
      assert.deepEqual(
        deletions.map(({ target }) => target),
        [String(key.id)],
      );
    },
  );
}
