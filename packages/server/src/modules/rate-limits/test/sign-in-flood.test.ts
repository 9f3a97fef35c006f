/** A flood of sign-ins does not delay other writes. Measured in commits, not in time. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { readConfig } from '../../../app/configuration/config.ts';
import type { Digest } from '../../../foundation/crypto/hashing-thread.ts';
import { HashingThreads } from '../../../foundation/crypto/hashing-threads.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { accountShare, runInShare, rangeShare } from '../../../foundation/database/share.ts';
import { openInstallation } from '../../../app/installation/installation.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { basic, bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { wire } from '../../../app/wiring/wire.ts';
import { outcomes } from '../../../../test-kit/store-on-each-database.ts';
import { KeptConnection } from '../../../../test-kit/kept-connection.ts';
import { until } from '../../../../test-kit/until.ts';
import { head } from '../../../../test-kit/raw-http.ts';

const argon2 = { memoryKib: 64, passes: 1, lanes: 1 };
const wrongPassword = 'not the password at all';
const floodSize = 2_000;
const email = (n: number): string => `flood${n}@example.com`;

/** Commits before that of the deletion. A commit for each sign-in of the flood would be 2,000. */
const commitsAheadMax = 20;

/** Hashes wait for `release`, so that no slot gets free while the flood is decided. */
class HeldThreads extends HashingThreads {
  readonly #released = Promise.withResolvers<void>();
  readonly release = this.#released.resolve;

  override async compute(...args: Parameters<HashingThreads['compute']>): Promise<Digest> {
    await this.#released.promise;
    return super.compute(...args);
  }
}

for (const [where, ipOf] of [
  ['one client IP', () => '192.0.2.1'],
  ['2,000 client IPs', (n: number) => `198.18.${n >> 8}.${n & 255}`],
] as const) {
  test(`of 2,000 concurrent sign-ins from ${where} most are not counted, and a deletion waits for few commits`, async () => {
    using folder = newTempFolder();
    const clock = new FakeClock();
    const config = readConfig({ KEYREEVE_DATABASE_URL: `sqlite:${join(folder.path, 'keyreeve.db')}` });
    const installation = await openInstallation(config, { clock, mayCreate: true });
    const { db } = installation;
    const hashingThreads = new HeldThreads(1);
    try {
      const options = { config, installation, clock, issuer: 'http://localhost', argon2 };
      const { accounts } = wire(options);
      const { apiKeys, tokenPairs } = wire({ ...options, hashingThreads });
      const { id: accountId } = await accounts.create(
        operator,
        'you@example.com',
        new Secret('wombat orbit velvet 42'),
        'user',
      );
      const { id } = await apiKeys.create(operator, accountId, { nickname: 'laptop' });
      let [commits, ended] = [0, 0];
      db.times.observe = (operation) => void (operation === 'commit' && commits++);
      const signIns = Promise.allSettled(
        Array.from({ length: floodSize }, (_, n) =>
          runInShare(rangeShare(ipOf(n), 'ordinary'), () =>
            tokenPairs
              .signIn(email(n), new Secret(wrongPassword), { clientIp: ipOf(n), userAgent: '' })
              .finally(() => ended++),
          ),
        ),
      );
      await runInShare(accountShare(accountId, 'narrowing'), () => apiKeys.delete(operator, accountId, id));
      assert.ok(commits <= commitsAheadMax, `${commits} commits`);
      await until('the sign-ins without a slot are rejected', () => ended >= floodSize - limits.signInsUnderWayMax);
      hashingThreads.release();
      const outcome = outcomes(await signIns);
      const { invalid_credentials: checked = 0, too_many_attempts: limited = 0 } = outcome;
      assert.ok(checked > 0 && checked <= limits.signInsUnderWayMax, JSON.stringify(outcome));
      assert.equal(outcome['overloaded'], floodSize - checked - limited);
      // The slots are free again.
      await assert.rejects(
        tokenPairs.signIn('you@example.com', new Secret(wrongPassword), { clientIp: '192.0.2.2', userAgent: '' }),
        {
          code: 'invalid_credentials',
        },
      );
    } finally {
      await hashingThreads.close();
      await db.close();
    }
  });
}

test(
  '2,000 pipelined sign-ins get responses, at most 100 are hashed, and a key is deleted meanwhile',
  { tags: ['asvs:15.2.2'] },
  async () => {
    await using app = await newApp();
    const { accessToken } = await app.signIn();
    const created = await app.call('POST', '/auth/api-keys', {
      headers: bearer(accessToken),
      json: { nickname: 'laptop' },
    });
    const { id, key } = created.json as { id: number; key: string };
    const { hasher } = app.service.services;
    const before = hasher.stats.hashed;
    const connections = 50;
    const each = floodSize / connections;
    const flood = Promise.all(
      Array.from({ length: connections }, async (_, connection) => {
        const requests = Array.from({ length: each }, (__, n) => {
          const { authorization } = basic(email(connection * each + n), wrongPassword);
          return head('POST /auth/token HTTP/1.1', 'Host: a', `Authorization: ${authorization}`);
        });
        // Without a limit of time: a busy machine needs more than 20 seconds for the flood.
        using kept = new KeptConnection(Number(new URL(app.url).port));
        kept.socket.write(requests.join(''), 'latin1');
        const answers: string[] = [];
        while (answers.length < each) answers.push(await kept.response());
        return answers.map((answer) => Number(answer.split(' ')[1]));
      }),
    );
    assert.equal((await app.call('DELETE', `/auth/api-keys/${id}`, { headers: bearer(accessToken) })).status, 200);
    assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 401);
    const statuses = (await flood).flat();
    const count = (status: number): number => statuses.filter((it) => it === status).length;
    assert.equal(count(401), hasher.stats.hashed - before);
    assert.ok(count(401) > 0 && count(401) <= limits.signInRangeFailuresMax, String(count(401)));
    assert.equal(count(401) + count(429) + count(503), floodSize);
  },
);
