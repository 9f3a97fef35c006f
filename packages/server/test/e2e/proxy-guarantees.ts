/**
 * What each configuration in `docs/forward-auth/` promises, whatever the proxy: who gets through, who doesn't, and what the backend is
 * told.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { values, type Answer } from './proxy-client.ts';
import {
  apiKey,
  bearer,
  claimed,
  identity,
  identityOfKey,
  identityOfToken,
  passes,
  refused,
  type Stage,
} from './proxy-stage.ts';

/** Ways to claim an identity: every one must end before the backend. */
const claims: Record<string, readonly (readonly [string, string])[]> = {
  'as Keyreeve writes it': [['X-Keyreeve-Account', claimed]],
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
  ],
  'in every header with underscores': [
    ['X_Keyreeve_Account', claimed],
    ['X_Keyreeve_Credential', claimed],
    ['X_Keyreeve_Key_Id', claimed],
    ['X_Keyreeve_Nickname', claimed],
    ['X_Keyreeve_Scopes', claimed],
  ],
  'and asking the proxy to remove the true one': [
    ['X-Keyreeve-Account', claimed],
    ['Connection', 'X-Keyreeve-Account'],
  ],
  'and asking the proxy to remove all of them': [
    ['Connection', 'close, X-Keyreeve-Account, X-Keyreeve-Credential'],
    ['Connection', 'x-keyreeve-key-id, x-keyreeve-nickname, x-keyreeve-scopes'],
  ],
};

export const guarantees: Record<string, (stage: Stage) => Promise<void>> = {
  'a key as Bearer reaches the backend with its identity': async (stage) => {
    const reached = await passes(stage, { headers: [bearer(stage.keyreeve.key.key)] });
    assert.deepEqual(identity(reached), identityOfKey(stage.keyreeve, stage.keyreeve.key, ''));
  },

  'a key as X-API-Key reaches the backend with its identity': async (stage) => {
    const { ordersKey } = stage.keyreeve;
    const reached = await passes(stage, { headers: [apiKey(ordersKey.key)] });
    assert.deepEqual(identity(reached), identityOfKey(stage.keyreeve, ordersKey, 'orders:read'));
  },

  'a nickname outside ASCII reaches the backend in UTF-8, percent-encoded': async (stage) => {
    const reached = await passes(stage, { headers: [bearer(stage.keyreeve.key.key)] });
    const [nickname = ''] = values(reached.headers, 'X-Keyreeve-Nickname');
    assert.match(nickname, /^[\x21-\x7e]+$/);
    assert.equal(decodeURIComponent(nickname), stage.keyreeve.key.nickname);
  },

  'an access token reaches the backend with its account, and with no key': async (stage) => {
    const reached = await passes(stage, { headers: [bearer(stage.keyreeve.accessToken)] });
    assert.deepEqual(identity(reached), identityOfToken(stage.keyreeve));
  },

  'the largest identity that a key can have reaches the backend whole': async (stage) => {
    const { largestKey } = stage.keyreeve;
    const reached = await passes(stage, { headers: [bearer(largestKey.key), ['X-Padding', 'x'.repeat(8_000)]] });
    assert.deepEqual(values(reached.headers, 'X-Keyreeve-Nickname'), [encodeURIComponent(largestKey.nickname)]);
    const [scopes = ''] = values(reached.headers, 'X-Keyreeve-Scopes');
    assert.equal(scopes.split(' ').length, 32);
    assert.equal(scopes.length, 32 * 64 + 31);
  },

  'without a credential the answer is 401 with a challenge': async (stage) => {
    const answer = await refused(stage, {}, [401]);
    assert.match(values(answer.headers, 'WWW-Authenticate').join(), /^Bearer/);
  },

  'a wrong key is answered 401 with a challenge': async (stage) => {
    const { key } = stage.keyreeve.key;
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    for (const credential of [
      bearer(wrong),
      apiKey(wrong),
      bearer('nonsense'),
      ['Authorization', 'Basic dTpw'] as const,
    ]) {
      const answer = await refused(stage, { headers: [credential] }, [401]);
      assert.match(values(answer.headers, 'WWW-Authenticate').join(), /^Bearer/);
    }
  },

  'every method is asked about': async (stage) => {
    for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      await refused(stage, { method }, [401]);
      const reached = await passes(stage, { method, headers: [bearer(stage.keyreeve.key.key)] });
      assert.equal(reached.method, method);
    }
  },

  'a key is refused in the very next request after its deletion': async (stage) => {
    const doomed = await stage.keyreeve.createKey(`doomed by ${stage.proxy.name}`);
    for (let round = 0; round < 5; round += 1) await passes(stage, { headers: [bearer(doomed.key)] });
    await stage.keyreeve.deleteKey(doomed.id);
    await refused(stage, { headers: [bearer(doomed.key)] }, [401]);
    await refused(stage, { headers: [apiKey(doomed.key)] }, [401]);
  },

  'an identity that the client claims never reaches the backend': async (stage) => {
    for (const [how, headers] of Object.entries(claims)) {
      const withKey = await passes(stage, { headers: [bearer(stage.keyreeve.key.key), ...headers] });
      assert.deepEqual(identity(withKey), identityOfKey(stage.keyreeve, stage.keyreeve.key, ''), how);
      const withToken = await passes(stage, { headers: [...headers, bearer(stage.keyreeve.accessToken)] });
      assert.deepEqual(identity(withToken), identityOfToken(stage.keyreeve), how);
      await refused(stage, { headers }, [401]);
    }
  },

  'an identity that the client claims after the body never becomes a header': async (stage) => {
    const trailers = { 'X-Keyreeve-Account': 'claimed-after-the-body' };
    const body = Buffer.from('abc');
    const reached = await passes(stage, {
      method: 'POST',
      headers: [bearer(stage.keyreeve.accessToken)],
      body,
      trailers,
    });
    assert.equal(reached.bodyBytes, 3);
    assert.deepEqual(identity(reached), identityOfToken(stage.keyreeve));
  },

  'the credential never reaches the backend': async (stage) => {
    const { key } = stage.keyreeve.key;
    for (const credential of [bearer(key), apiKey(key), bearer(stage.keyreeve.accessToken)]) {
      const reached = await passes(stage, { headers: [credential] });
      assert.deepEqual([...values(reached.headers, 'Authorization'), ...values(reached.headers, 'X-API-Key')], []);
      assert.ok(!JSON.stringify(reached).includes(credential[1]));
    }
  },

  'a body of 1 MiB reaches the backend whole, and none of it Keyreeve': async (stage) => {
    const body = Buffer.from(randomBytes(512 * 1024).toString('hex'));
    stage.tap.taken();
    const reached = await passes(stage, {
      method: 'POST',
      path: '/upload?x=y',
      headers: [bearer(stage.keyreeve.key.key)],
      body,
    });
    assert.deepEqual(
      { method: reached.method, url: reached.url, bytes: reached.bodyBytes, sha256: reached.bodySha256 },
      { method: 'POST', url: '/upload?x=y', bytes: 1_048_576, sha256: createHash('sha256').update(body).digest('hex') },
    );
    const asked = stage.tap.taken();
    assert.ok(asked.includes(stage.keyreeve.key.key), 'the tap saw the question');
    assert.ok(!asked.includes(body.toString('latin1', 0, 64)), 'the question has nothing of the body');
    assert.ok(asked.length < 16_384, 'the question is small');
  },

  'a refused body never reaches the backend': async (stage) => {
    await refused(stage, { method: 'POST', headers: [bearer('nonsense')], body: Buffer.alloc(1000, 'x') }, [401]);
  },

  'cookies are not shown to Keyreeve': async (stage) => {
    stage.tap.taken();
    const reached = await passes(stage, {
      headers: [bearer(stage.keyreeve.key.key), ['Cookie', 'session=the-backends-own']],
    });
    assert.deepEqual(values(reached.headers, 'Cookie'), ['session=the-backends-own']);
    assert.ok(!stage.tap.taken().includes('the-backends-own'));
  },

  'two credentials in one request are refused': async (stage) => {
    const { key, ordersKey, accessToken } = stage.keyreeve;
    await refused(stage, { headers: [bearer(key.key), apiKey(key.key)] }, [401]);
    await refused(stage, { headers: [bearer(accessToken), apiKey(key.key)] }, [401]);
    await refused(stage, { headers: [apiKey(key.key), apiKey(ordersKey.key)] }, [401]);
    await refused(stage, { headers: [apiKey(`${key.key}, ${ordersKey.key}`)] }, [401]);
    await refused(stage, { headers: [bearer(`${key.key}, Bearer ${ordersKey.key}`)] }, [401]);
    await refused(stage, { headers: [bearer(key.key), bearer(ordersKey.key)] }, stage.proxy.twoAuthorizationLines);
    await refused(stage, { headers: [bearer(key.key), bearer(key.key)] }, stage.proxy.twoAuthorizationLines);
    await refused(
      stage,
      { headers: [['Authorization', 'Basic dTpw'], bearer(key.key)] },
      stage.proxy.twoAuthorizationLines,
    );
  },

  'Keyreeve unreachable: refused, until it is back': async (stage) => {
    const headers = [bearer(stage.keyreeve.key.key)];
    await stage.tap.refuse();
    try {
      await refused(stage, { headers }, [stage.proxy.whenUnreachable]);
      await refused(stage, { headers: [] }, [stage.proxy.whenUnreachable]);
    } finally {
      await stage.tap.accept();
    }
    await passes(stage, { headers });
  },

  'Keyreeve without its database (503): refused': async (stage) => {
    const body = '{"code":"unavailable"}';
    const head = `HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\n`;
    stage.tap.answer(`${head}Retry-After: 1\r\nConnection: close\r\n\r\n${body}`);
    try {
      await refused(stage, { headers: [bearer(stage.keyreeve.key.key)] }, [stage.proxy.whenUnavailable]);
    } finally {
      stage.tap.answer(undefined);
    }
    await passes(stage, { headers: [bearer(stage.keyreeve.key.key)] });
  },

  'something else in the place of Keyreeve lets nobody through': async (stage) => {
    try {
      for (const strange of strangeAnswers) {
        stage.tap.answer(strange);
        const answer = await stage.ask({ headers: [bearer(stage.keyreeve.key.key)] });
        assert.deepEqual(stage.backend.taken(), [], strange);
        assert.notEqual(answer.status, 200, strange);
      }
    } finally {
      stage.tap.answer(undefined);
    }
  },

  'a 200 that names nobody never lets a claimed identity through': async (stage) => {
    stage.tap.answer('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    try {
      for (const headers of Object.values(claims)) {
        const answer = await stage.ask({ headers: [bearer(stage.keyreeve.key.key), ...headers] });
        assert.equal(answer.status, stage.proxy.whenNobodyIsNamed);
        // identity() asserts that nothing claimed is in it. Caddy 2.6 puts the name of its placeholder where a header is absent.
        for (const reached of stage.backend.taken()) identity(reached);
      }
    } finally {
      stage.tap.answer(undefined);
    }
  },

  'Keyreeve silent: refused after a few seconds': async (stage) => {
    stage.tap.answer('');
    try {
      await refused(stage, { headers: [bearer(stage.keyreeve.key.key)] }, [stage.proxy.whenSilent]);
    } finally {
      stage.tap.answer(undefined);
    }
    await passes(stage, { headers: [bearer(stage.keyreeve.key.key)] });
  },
};

/** Whole answers of something that isn't Keyreeve, or isn't well. */
const strangeAnswers: readonly string[] = [
  'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 302 Found\r\nLocation: /sign-in\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 2',
  'SSH-2.0-OpenSSH_9.2p1\r\n',
];

/** Not for Envoy, which puts the client's path and query into its request to Keyreeve. */
export const guaranteesOfFixedAddress: Record<string, (stage: Stage) => Promise<void>> = {
  'a scope in the client’s own query asks for nothing': async (stage) => {
    stage.tap.taken();
    const path = '/search?scope=keyreeve:verify&x=y';
    const reached = await passes(stage, { path, headers: [bearer(stage.keyreeve.key.key)] });
    assert.equal(reached.url, path);
    assert.match(stage.tap.taken(), /^GET \/auth\/forward HTTP\/1\.1\r\n/);
  },

  'Keyreeve is asked once for each request': async (stage) => {
    for (const path of ['/', '/orders/1?x=y']) {
      stage.tap.taken();
      await passes(stage, { path, headers: [bearer(stage.keyreeve.ordersKey.key)] });
      assert.equal(stage.tap.taken().match(/ HTTP\/1\.1\r\n/g)?.length, 1, path);
    }
  },
};

/** What the client gets when its request is rejected, and by which of the three. */
export const guaranteesOfRejections: Record<string, (stage: Stage) => Promise<void>> = {
  'a rejection carries Keyreeve’s problem document and one challenge': async (stage) => {
    const { key } = stage.keyreeve;
    for (const [headers, status, code, challenge] of [
      [[], 401, 'missing_credential', /^Bearer realm="keyreeve"$/],
      [[bearer('nonsense')], 401, 'invalid_credential', /^Bearer .*error="invalid_token"$/],
    ] as const) {
      for (const method of ['GET', 'POST']) {
        const body = method === 'POST' ? { body: Buffer.alloc(1_000, 'x') } : {};
        const answer = await refused(stage, { method, headers, ...body }, [status]);
        assertProblem(answer, status, code);
        const challenges = values(answer.headers, 'WWW-Authenticate');
        assert.equal(challenges.length, 1, JSON.stringify(challenges));
        assert.match(challenges[0] ?? '', challenge);
      }
      const { body } = await refused(stage, { method: 'HEAD', headers }, [status]);
      assert.equal(body, '');
    }
    if (!stage.proxy.hasRuleByPath) return;
    const answer = await refused(stage, { path: '/orders/1', headers: [bearer(key.key)] }, [403]);
    assertProblem(answer, 403, 'insufficient_scope');
    assert.deepEqual(values(answer.headers, 'WWW-Authenticate'), [
      'Bearer realm="keyreeve", error="insufficient_scope", scope="orders:read"',
    ]);
  },

  'the backend’s own refusals reach the client unchanged': async (stage) => {
    for (const status of [401, 403, 500, 503]) {
      const headers = [bearer(stage.keyreeve.key.key), ['X-Test-Status', String(status)] as const];
      const answer = await stage.ask({ headers });
      assert.deepEqual([answer.status, answer.body], [status, 'from the backend']);
      assert.equal(stage.backend.taken().length, 1);
    }
  },

  'a body up to the proxy’s bound reaches the backend; a larger one is answered 413': async (stage) => {
    const { bodyBytesMax } = stage.proxy;
    if (bodyBytesMax === undefined) return;
    const headers = [bearer(stage.keyreeve.key.key)];
    await refused(stage, { method: 'POST', headers, body: Buffer.alloc(bodyBytesMax + 1) }, [413]);
    const reached = await passes(stage, { method: 'POST', headers, body: Buffer.alloc(bodyBytesMax) });
    assert.equal(reached.bodyBytes, bodyBytesMax);
  },
};

function assertProblem({ headers, body }: Answer, status: number, code: string): void {
  assert.match(values(headers, 'Content-Type').join(), /^application\/problem\+json/);
  const problem = JSON.parse(body) as Record<string, unknown>;
  assert.deepEqual([problem['status'], problem['code']], [status, code], body);
}
