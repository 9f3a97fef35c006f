/** Guarantees of each configuration in `docs/forward-auth/`: which requests reach the backend, and with which identity. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { values, type ProxyResponse } from './proxy-client.ts';
import {
  apiKey,
  bearer,
  claimed,
  identity,
  identityOfKey,
  identityOfToken,
  assertForwarded,
  assertRejected,
  type ProxySetup,
} from './proxy-setup.ts';

/** Identity headers of a client, in several spellings. None may reach the backend. */
export const claims: Record<string, readonly (readonly [string, string])[]> = {
  'in Keyreeve’s spelling': [['X-Keyreeve-Account', claimed]],
  'in lower case': [['x-keyreeve-account', claimed]],
  'in upper case': [['X-KEYREEVE-ACCOUNT', claimed]],
  'with underscores': [['X_Keyreeve_Account', claimed]],
  'with underscores in lower case': [['x_keyreeve_account', claimed]],
  'with a dash and an underscore': [['X-Keyreeve_Account', claimed]],
  'with an underscore and a dash': [['X_Keyreeve-Account', claimed]],
  twice: [
    ['X-Keyreeve-Account', claimed],
    ['X-Keyreeve-Account', claimed],
  ],
  'twice in two spellings': [
    ['x-keyreeve-account', claimed],
    ['X_KEYREEVE_ACCOUNT', claimed],
  ],
  'in every header': [
    ['X-Keyreeve-Account', claimed],
    ['X-Keyreeve-Credential', claimed],
    ['X-Keyreeve-Key-Id', claimed],
    ['X-Keyreeve-Nickname', claimed],
    ['X-Keyreeve-Scopes', claimed],
    ['X-Keyreeve-Environment', claimed],
  ],
  'in every header with underscores': [
    ['X_Keyreeve_Account', claimed],
    ['X_Keyreeve_Credential', claimed],
    ['X_Keyreeve_Key_Id', claimed],
    ['X_Keyreeve_Nickname', claimed],
    ['X_Keyreeve_Scopes', claimed],
    ['X_Keyreeve_Environment', claimed],
  ],
  'with a request to remove the real header': [
    ['X-Keyreeve-Account', claimed],
    ['Connection', 'X-Keyreeve-Account'],
  ],
  'with a request to remove all identity headers': [
    ['Connection', 'close, X-Keyreeve-Account, X-Keyreeve-Credential'],
    ['Connection', 'x-keyreeve-key-id, x-keyreeve-nickname, x-keyreeve-scopes, x-keyreeve-environment'],
  ],
};

export const guarantees: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'a key as Bearer reaches the backend with its identity': async (setup) => {
    const reached = await assertForwarded(setup, { headers: [bearer(setup.keyreeve.key.key)] });
    assert.deepEqual(identity(reached), identityOfKey(setup.keyreeve, setup.keyreeve.key, ''));
  },

  'a key as X-API-Key reaches the backend with its identity': async (setup) => {
    const { ordersKey } = setup.keyreeve;
    const reached = await assertForwarded(setup, { headers: [apiKey(ordersKey.key)] });
    assert.deepEqual(identity(reached), identityOfKey(setup.keyreeve, ordersKey, 'orders:read'));
  },

  'an empty credential header is none, and does not reject the key in the other one': async (setup) => {
    const { ordersKey } = setup.keyreeve;
    const wanted = identityOfKey(setup.keyreeve, ordersKey, 'orders:read');
    for (const headers of [
      [['Authorization', ''] as const, apiKey(ordersKey.key)],
      [bearer(ordersKey.key), ['X-API-Key', ''] as const],
    ]) {
      const reached = await assertForwarded(setup, { headers });
      assert.deepEqual(identity(reached), wanted);
    }
    await assertRejected(setup, { headers: [['Authorization', '']] }, [401]);
  },

  'a nickname outside ASCII reaches the backend in UTF-8, percent-encoded': async (setup) => {
    const reached = await assertForwarded(setup, { headers: [bearer(setup.keyreeve.key.key)] });
    const [nickname = ''] = values(reached.headers, 'X-Keyreeve-Nickname');
    assert.match(nickname, /^[\x21-\x7e]+$/);
    assert.equal(decodeURIComponent(nickname), setup.keyreeve.key.nickname);
  },

  'an access token reaches the backend with its account and without a key': async (setup) => {
    const reached = await assertForwarded(setup, { headers: [bearer(setup.keyreeve.accessToken)] });
    assert.deepEqual(identity(reached), identityOfToken(setup.keyreeve));
  },

  'the largest possible identity of a key reaches the backend completely': async (setup) => {
    const { largestKey } = setup.keyreeve;
    const reached = await assertForwarded(setup, {
      headers: [bearer(largestKey.key), ['X-Padding', 'x'.repeat(8_000)]],
    });
    assert.deepEqual(values(reached.headers, 'X-Keyreeve-Nickname'), [encodeURIComponent(largestKey.nickname)]);
    const [scopes = ''] = values(reached.headers, 'X-Keyreeve-Scopes');
    assert.equal(scopes.split(' ').length, 32);
    assert.equal(scopes.length, 32 * 64 + 31);
  },

  'a request without a credential gets 401 with a challenge': async (setup) => {
    const response = await assertRejected(setup, {}, [401]);
    assert.match(values(response.headers, 'WWW-Authenticate').join(), /^Bearer/);
  },

  'a wrong key gets 401 with a challenge': async (setup) => {
    const { key } = setup.keyreeve.key;
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    for (const credential of [
      bearer(wrong),
      apiKey(wrong),
      bearer('nonsense'),
      ['Authorization', 'Basic dTpw'] as const,
    ]) {
      const response = await assertRejected(setup, { headers: [credential] }, [401]);
      assert.match(values(response.headers, 'WWW-Authenticate').join(), /^Bearer/);
    }
  },

  'every method is verified': async (setup) => {
    for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      await assertRejected(setup, { method }, [401]);
      const reached = await assertForwarded(setup, { method, headers: [bearer(setup.keyreeve.key.key)] });
      assert.equal(reached.method, method);
    }
  },

  'the next request after the deletion of a key is rejected': async (setup) => {
    const deleted = await setup.keyreeve.createKey(`deleted by ${setup.proxy.name}`);
    for (let round = 0; round < 5; round += 1) await assertForwarded(setup, { headers: [bearer(deleted.key)] });
    await setup.keyreeve.deleteKey(deleted.id);
    await assertRejected(setup, { headers: [bearer(deleted.key)] }, [401]);
    await assertRejected(setup, { headers: [apiKey(deleted.key)] }, [401]);
  },

  'identity headers of the client never reach the backend': async (setup) => {
    for (const [how, headers] of Object.entries(claims)) {
      const withKey = await assertForwarded(setup, { headers: [bearer(setup.keyreeve.key.key), ...headers] });
      assert.deepEqual(identity(withKey), identityOfKey(setup.keyreeve, setup.keyreeve.key, ''), how);
      const withToken = await assertForwarded(setup, { headers: [...headers, bearer(setup.keyreeve.accessToken)] });
      assert.deepEqual(identity(withToken), identityOfToken(setup.keyreeve), how);
      await assertRejected(setup, { headers }, [401]);
    }
  },

  'identity trailers of the client never become headers': async (setup) => {
    const trailers = { 'X-Keyreeve-Account': 'claimed-after-the-body' };
    const body = Buffer.from('abc');
    const reached = await assertForwarded(setup, {
      method: 'POST',
      headers: [bearer(setup.keyreeve.accessToken)],
      body,
      trailers,
    });
    assert.equal(reached.bodyBytes, 3);
    assert.deepEqual(identity(reached), identityOfToken(setup.keyreeve));
  },

  'the credential never reaches the backend': async (setup) => {
    const { key } = setup.keyreeve.key;
    for (const credential of [bearer(key), apiKey(key), bearer(setup.keyreeve.accessToken)]) {
      const reached = await assertForwarded(setup, { headers: [credential] });
      assert.deepEqual([...values(reached.headers, 'Authorization'), ...values(reached.headers, 'X-API-Key')], []);
      assert.ok(!JSON.stringify(reached).includes(credential[1]));
    }
  },

  'a body of 1 MiB reaches the backend completely, and Keyreeve receives nothing of it': async (setup) => {
    const body = Buffer.from(randomBytes(512 * 1024).toString('hex'));
    setup.tap.takeRecorded();
    const reached = await assertForwarded(setup, {
      method: 'POST',
      path: '/upload?x=y',
      headers: [bearer(setup.keyreeve.key.key)],
      body,
    });
    assert.deepEqual(
      { method: reached.method, url: reached.url, bytes: reached.bodyBytes, sha256: reached.bodySha256 },
      { method: 'POST', url: '/upload?x=y', bytes: 1_048_576, sha256: createHash('sha256').update(body).digest('hex') },
    );
    const recorded = setup.tap.takeRecorded();
    assert.ok(recorded.includes(setup.keyreeve.key.key), 'the tap recorded the request to Keyreeve');
    assert.ok(!recorded.includes(body.toString('latin1', 0, 64)), 'the request to Keyreeve has no part of the body');
    assert.ok(recorded.length < 16_384, 'the request to Keyreeve is small');
  },

  'the body of a rejected request never reaches the backend': async (setup) => {
    await assertRejected(
      setup,
      { method: 'POST', headers: [bearer('nonsense')], body: Buffer.alloc(1000, 'x') },
      [401],
    );
  },

  'Keyreeve does not receive cookies': async (setup) => {
    setup.tap.takeRecorded();
    const reached = await assertForwarded(setup, {
      headers: [bearer(setup.keyreeve.key.key), ['Cookie', 'session=the-backends-own']],
    });
    assert.deepEqual(values(reached.headers, 'Cookie'), ['session=the-backends-own']);
    assert.ok(!setup.tap.takeRecorded().includes('the-backends-own'));
  },

  'a request with two credentials is rejected': async (setup) => {
    const { key, ordersKey, accessToken } = setup.keyreeve;
    await assertRejected(setup, { headers: [bearer(key.key), apiKey(key.key)] }, [401]);
    await assertRejected(setup, { headers: [bearer(accessToken), apiKey(key.key)] }, [401]);
    await assertRejected(setup, { headers: [apiKey(key.key), apiKey(ordersKey.key)] }, [401]);
    await assertRejected(setup, { headers: [apiKey(`${key.key}, ${ordersKey.key}`)] }, [401]);
    await assertRejected(setup, { headers: [bearer(`${key.key}, Bearer ${ordersKey.key}`)] }, [401]);
    await assertRejected(
      setup,
      { headers: [bearer(key.key), bearer(ordersKey.key)] },
      setup.proxy.twoAuthorizationLines,
    );
    await assertRejected(setup, { headers: [bearer(key.key), bearer(key.key)] }, setup.proxy.twoAuthorizationLines);
    await assertRejected(
      setup,
      { headers: [['Authorization', 'Basic dTpw'], bearer(key.key)] },
      setup.proxy.twoAuthorizationLines,
    );
  },

  'requests are rejected while Keyreeve is unreachable': async (setup) => {
    const headers = [bearer(setup.keyreeve.key.key)];
    await setup.tap.refuse();
    try {
      await assertRejected(setup, { headers }, [setup.proxy.whenUnreachable]);
      await assertRejected(setup, { headers: [] }, [setup.proxy.whenUnreachable]);
    } finally {
      await setup.tap.accept();
    }
    await assertForwarded(setup, { headers });
  },

  'requests are rejected while Keyreeve returns 503': async (setup) => {
    const body = '{"code":"unavailable"}';
    const head = `HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\n`;
    setup.tap.respondWith(`${head}Retry-After: 1\r\nConnection: close\r\n\r\n${body}`);
    try {
      await assertRejected(setup, { headers: [bearer(setup.keyreeve.key.key)] }, [setup.proxy.whenUnavailable]);
    } finally {
      setup.tap.respondWith(undefined);
    }
    await assertForwarded(setup, { headers: [bearer(setup.keyreeve.key.key)] });
  },

  'an invalid response instead of Keyreeve’s rejects the request': async (setup) => {
    try {
      for (const bytes of invalidResponses) {
        setup.tap.respondWith(bytes);
        const response = await setup.send({ headers: [bearer(setup.keyreeve.key.key)] });
        assert.deepEqual(setup.backend.takeRequests(), [], bytes);
        assert.notEqual(response.status, 200, bytes);
      }
    } finally {
      setup.tap.respondWith(undefined);
    }
  },

  'a 200 without identity headers never forwards those of the client': async (setup) => {
    setup.tap.respondWith('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    try {
      for (const headers of Object.values(claims)) {
        const response = await setup.send({ headers: [bearer(setup.keyreeve.key.key), ...headers] });
        assert.equal(response.status, setup.proxy.whenIdentityMissing);
        // `identity` asserts that no claimed value is in it. Caddy 2.6 replaces an absent header with the name of its placeholder.
        for (const reached of setup.backend.takeRequests()) identity(reached);
      }
    } finally {
      setup.tap.respondWith(undefined);
    }
  },

  'requests are rejected after a few seconds if Keyreeve does not respond': async (setup) => {
    setup.tap.respondWith('');
    try {
      await assertRejected(setup, { headers: [bearer(setup.keyreeve.key.key)] }, [setup.proxy.whenSilent]);
    } finally {
      setup.tap.respondWith(undefined);
    }
    await assertForwarded(setup, { headers: [bearer(setup.keyreeve.key.key)] });
  },
};

/** Responses of another server, or of a broken Keyreeve. */
const invalidResponses: readonly string[] = [
  'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 302 Found\r\nLocation: /sign-in\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 2',
  'SSH-2.0-OpenSSH_9.2p1\r\n',
];

/** Not for Envoy, which adds the client's path and query to its request to Keyreeve. */
export const guaranteesOfFixedUrl: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'a scope in the client’s query is not requested from Keyreeve': async (setup) => {
    setup.tap.takeRecorded();
    const path = '/search?scope=keyreeve:verify&cost=10000&limited=x&environment=test&x=y';
    const reached = await assertForwarded(setup, { path, headers: [bearer(setup.keyreeve.key.key)] });
    assert.equal(reached.url, path);
    assert.match(setup.tap.takeRecorded(), /^(?:GET|HEAD) \/auth\/forward(\?limited=403)? HTTP\/1\.1\r\n/);
  },

  'the proxy sends one request to Keyreeve for each request of a client': async (setup) => {
    for (const path of ['/', '/orders/1?x=y']) {
      setup.tap.takeRecorded();
      await assertForwarded(setup, { path, headers: [bearer(setup.keyreeve.ordersKey.key)] });
      assert.equal(setup.tap.takeRecorded().match(/ HTTP\/1\.1\r\n/g)?.length, 1, path);
    }
  },
};

/** Responses to rejected requests: from Keyreeve, the backend or the proxy. */
export const guaranteesOfRejections: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'a rejection carries Keyreeve’s problem document and one challenge': async (setup) => {
    const { key } = setup.keyreeve;
    for (const [headers, status, code, challenge] of [
      [[], 401, 'missing_credential', /^Bearer realm="keyreeve"$/],
      [[bearer('nonsense')], 401, 'invalid_credential', /^Bearer .*error="invalid_token"$/],
    ] as const) {
      for (const method of ['GET', 'POST']) {
        const body = method === 'POST' ? { body: Buffer.alloc(1_000, 'x') } : {};
        const response = await assertRejected(setup, { method, headers, ...body }, [status]);
        assertProblem(response, status, code);
        const challenges = values(response.headers, 'WWW-Authenticate');
        assert.equal(challenges.length, 1, JSON.stringify(challenges));
        assert.match(challenges[0] ?? '', challenge);
      }
      const { body } = await assertRejected(setup, { method: 'HEAD', headers }, [status]);
      assert.equal(body, '');
    }
    if (!setup.proxy.hasRuleByPath) return;
    const response = await assertRejected(setup, { path: '/orders/1', headers: [bearer(key.key)] }, [403]);
    assertProblem(response, 403, 'insufficient_scope');
    assert.deepEqual(values(response.headers, 'WWW-Authenticate'), [
      'Bearer realm="keyreeve", error="insufficient_scope", scope="orders:read"',
    ]);
  },

  'rejections of the backend reach the client unchanged': async (setup) => {
    for (const status of [401, 403, 429, 500, 503]) {
      const headers = [bearer(setup.keyreeve.key.key), ['X-Test-Status', String(status)] as const];
      const response = await setup.send({ headers });
      assert.deepEqual([response.status, response.body], [status, 'from the backend']);
      assert.equal(setup.backend.takeRequests().length, 1);
    }
  },

  'a body up to the proxy’s limit reaches the backend; a larger one gets 413': async (setup) => {
    const { bodyBytesMax } = setup.proxy;
    if (bodyBytesMax === undefined) return;
    const headers = [bearer(setup.keyreeve.key.key)];
    await assertRejected(setup, { method: 'POST', headers, body: Buffer.alloc(bodyBytesMax + 1) }, [413]);
    const reached = await assertForwarded(setup, { method: 'POST', headers, body: Buffer.alloc(bodyBytesMax) });
    assert.equal(reached.bodyBytes, bodyBytesMax);
  },
};

export function assertProblem({ headers, body }: ProxyResponse, status: number, code: string): void {
  assert.match(values(headers, 'Content-Type').join(), /^application\/problem\+json/);
  const problem = JSON.parse(body) as Record<string, unknown>;
  assert.deepEqual([problem['status'], problem['code']], [status, code], body);
}
