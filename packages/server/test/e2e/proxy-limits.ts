/** Guarantees of each configuration in `docs/forward-auth/` for keys with limits. */
import assert from 'node:assert/strict';
import { values, type ProxyResponse } from './proxy-client.ts';
import { assertProblem } from './proxy-guarantees.ts';
import { assertForwarded, assertRejected, bearer, type ProxySetup } from './proxy-setup.ts';

/** By which a client claims that a limit is exceeded. */
const claim = ['X-Keyreeve-Refusal', 'rate_limited'] as const;

const newKey = async ({ keyreeve, proxy }: ProxySetup, nickname: string, more: object): Promise<string> =>
  (await keyreeve.createKey(`${nickname} by ${proxy.name}`, more)).key;

const valueOf = ({ headers }: ProxyResponse, name: string): string => values(headers, name).join('\n');

export const guaranteesOfLimits: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'a key with a quota of 1 reaches the backend once, then gets 429 with Retry-After': async (setup) => {
    const scopes = ['orders:read'];
    for (const path of ['/', '/orders/1?x=y']) {
      const key = await newKey(setup, `once ${path}`, { scopes, limits: { quota: { limit: 1, per: 'month' } } });
      const reached = await assertForwarded(setup, { path, headers: [bearer(key), ['RateLimit', 'of the client']] });
      assert.deepEqual(values(reached.headers, 'RateLimit'), ['of the client']);
      assert.deepEqual(values(reached.headers, 'RateLimit-Policy'), []);
      for (const method of ['GET', 'POST', 'HEAD']) {
        setup.tap.takeRecorded();
        const body = method === 'POST' ? { body: Buffer.alloc(1_000, 'x') } : {};
        const rejected = await assertRejected(setup, { path, method, headers: [bearer(key)], ...body }, [429]);
        assert.equal(setup.tap.takeRecorded().match(/ HTTP\/1\.1\r\n/g)?.length, 1, 'one request to Keyreeve');
        if (method !== 'HEAD') assertProblem(rejected, 429, 'quota_exceeded');
        assert.match(valueOf(rejected, 'Retry-After'), /^[1-9]\d*$/);
        assert.match(valueOf(rejected, 'RateLimit'), /^"key-quota";r=0;t=[1-9]\d*$/);
        assert.equal(valueOf(rejected, 'RateLimit-Policy'), '"key-quota";q=1;w=2592000');
        assert.equal(valueOf(rejected, 'Cache-Control'), 'no-store');
        assert.equal(valueOf(rejected, 'WWW-Authenticate'), '');
      }
      assert.equal(await setup.echo('/ws/chat', [bearer(key)], 'hello'), 429);
    }
  },

  'a rate and a quota that never resets are rejected with their codes': async (setup) => {
    const rate = await newKey(setup, 'rate', { limits: { rate: { limit: 1, windowSeconds: 86_400 } } });
    const ever = await newKey(setup, 'ever', { limits: { quota: { limit: 1, per: 'ever' } } });
    for (const key of [rate, ever]) await assertForwarded(setup, { headers: [bearer(key)] });
    const [tooFast, used] = [
      await assertRejected(setup, { headers: [bearer(rate)] }, [429]),
      await assertRejected(setup, { headers: [bearer(ever)] }, [429]),
    ];
    assertProblem(tooFast, 429, 'rate_limited');
    assert.notEqual(valueOf(tooFast, 'Retry-After'), '');
    assertProblem(used, 429, 'quota_exceeded');
    assert.equal(valueOf(used, 'Retry-After'), '');
  },

  'a 403 for another reason stays a 403, whatever the client claims': async (setup) => {
    const more = { addresses: ['203.0.113.0/24'], limits: { quota: { limit: 1, per: 'day' } } };
    const key = await newKey(setup, 'elsewhere', more);
    const rejected = await assertRejected(setup, { headers: [bearer(key), claim] }, [403]);
    if (rejected.body !== '') assertProblem(rejected, 403, 'address_not_allowed');
    assert.deepEqual([valueOf(rejected, 'Retry-After'), valueOf(rejected, 'RateLimit')], ['', '']);
    await assertRejected(setup, { headers: [bearer('nonsense'), claim] }, [401]);
    const backends = [bearer(setup.keyreeve.key.key), claim, ['X-Test-Status', '403']] as const;
    assert.equal((await setup.send({ headers: backends })).status, 403);
    setup.backend.takeRequests();
    if (!setup.proxy.hasRuleByPath) return;
    const plain = [bearer(setup.keyreeve.key.key), claim];
    assertProblem(await assertRejected(setup, { path: '/orders/1', headers: plain }, [403]), 403, 'insufficient_scope');
  },

  'a listed origin may read a rejection by a limit and its fields': async (setup) => {
    const key = await newKey(setup, 'browser', { limits: { quota: { limit: 1, per: 'ever' } } });
    const headers = [bearer(key), ['Origin', 'https://app.example.com']] as const;
    await assertForwarded(setup, { headers });
    const rejected = await assertRejected(setup, { headers }, [429]);
    assert.equal(valueOf(rejected, 'Access-Control-Allow-Origin'), 'https://app.example.com');
    assert.equal(valueOf(rejected, 'Access-Control-Allow-Credentials'), '');
    assert.match(valueOf(rejected, 'Vary'), /\borigin\b/i);
    const exposed = valueOf(rejected, 'Access-Control-Expose-Headers').toLowerCase().split(/, ?/);
    assert.deepEqual(exposed.toSorted(), ['ratelimit', 'ratelimit-policy', 'retry-after', 'www-authenticate']);
  },
};
