/** What only callers in this process can do with a source of secrets. All libraries have the rules of packages/conformance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { responseOf, startRawServer } from '../../conformance/replay-server.ts';
import { exchange, type ExchangeOptions, type TokenRequest } from '../src/exchange.ts';
import { settled } from './held-transport.ts';

const url = 'https://auth.example.com';
const body = { access_token: 'krvt_1', token_type: 'Bearer', expires_in: 600 };

/** A source whose tokens the test gives. */
function held(options: Partial<ExchangeOptions> = {}) {
  const calls: (TokenRequest & { readonly give: (token: string) => void })[] = [];
  const identityToken = (request: TokenRequest): Promise<string> =>
    new Promise((give) => void calls.push({ ...request, give }));
  return { calls, source: exchange({ url, keyId: 1, identityToken, ...options }) };
}

test('a caller that leaves ends only its own wait, and the last one ends the exchange', async () => {
  const { calls, source } = held();
  const [first, second] = [new AbortController(), new AbortController()];
  const asked = [first, second].map(({ signal }) => source.secret({ signal }));
  first.abort();
  await assert.rejects(asked[0] ?? Promise.resolve(), { name: 'AbortError' });
  assert.deepEqual([calls.length, calls[0]?.signal.aborted], [1, false]);
  second.abort(new Error('of the second caller'));
  await assert.rejects(asked[1] ?? Promise.resolve(), /^Error: of the second caller$/);
  assert.equal(calls[0]?.signal.aborted, true);
  // Does not join the exchange that has ended.
  const third = source.secret();
  assert.equal(calls.length, 2);
  calls[1]?.give('');
  await assert.rejects(third, /^TypeError: identityToken: the function has returned no token$/);
  await assert.rejects(source.secret({ signal: first.signal }), { name: 'AbortError' });
  assert.equal(calls.length, 2);
});

test('the token of an exchange without callers is not sent', async () => {
  await using server = await startRawServer((_, socket) => socket.write(responseOf({ body })));
  const { calls, source } = held({ url: server.url });
  const controller = new AbortController();
  const asked = source.secret({ signal: controller.signal });
  controller.abort();
  await assert.rejects(asked, { name: 'AbortError' });
  calls[0]?.give('token');
  await settled();
  assert.equal(server.requests.length, 0);
});

test('a source uses the fetch of the program, and shows no secret', async () => {
  await using server = await startRawServer((_, socket) => socket.write(responseOf({ body })));
  let calls = 0;
  const counted: typeof fetch = (...args) => {
    calls++;
    return fetch(...args);
  };
  const source = exchange({
    url: server.url,
    identityToken: ({ audience }) => `token for ${audience}`,
    fetch: counted,
  });
  assert.equal(await source.secret(), 'krvt_1');
  assert.equal(calls, 1);
  assert.equal(new URLSearchParams(server.requests[0]?.body).get('assertion'), `token for ${server.url}`);
  assert.doesNotMatch(inspect(source, { depth: 9, showHidden: true }) + JSON.stringify(source), /krvt_|token for/);
});

test('options that cannot lead to a key are errors', () => {
  const identityToken = () => 'token';
  assert.throws(() => exchange({ url: 'http://auth.example.com', identityToken }), /plain HTTP/);
  for (const keyId of [0, -1, 1.5, Number.NaN, 2 ** 53, '7' as never])
    assert.throws(() => exchange({ url, keyId, identityToken }), { name: 'TypeError', message: /^keyId/ });
});
