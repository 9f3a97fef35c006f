/** What a backend may request of a portal session, by its input. */
import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import type { NewPortalSessionBody } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { newApp } from '../../../../test-kit/new-app.ts';
import { newPortalBackend } from '../../../../test-kit/portal.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { portalDataOf } from '../request.ts';

const own = ['https://auth.example.com', 'https://console.example.com'];
const check = (request: Partial<NewPortalSessionBody>) =>
  portalDataOf({ externalId: 'tenant', capabilities: ['read'], ...request }, own);

const refusedOrigins: readonly string[] = [
  'app.example.com',
  '//app.example.com',
  'https://app.example.com/',
  'https://app.example.com/path',
  'https://app.example.com?a',
  'https://app.example.com#a',
  'https://ada@app.example.com',
  'https://app.example.com:443',
  'https://APP.example.com',
  'https://bücher.example',
  ' https://app.example.com',
  'https://app.example.com\n',
  'https://*.example.com',
  'http://[::1]:3000',
  'https://[2001:db8::1]',
  'https://app.example.com;script-src',
  "https://app.example.com'self'",
  'https://app.example.com,https://evil.example',
  'https://a%2eexample.com',
  'http://app.example.com',
  'http://127.0.0.2',
  'http://localhost.example.com',
  'ftp://app.example.com',
  'file://app.example.com',
  'data:text/html,a',
  'javascript:alert(1)',
  'null',
  '*',
  ...own,
];

nodeTest('the origin of a frame is one origin as browsers write it, and no own one', () => {
  for (const origin of refusedOrigins)
    assert.throws(() => check({ origin }), pointsTo('/origin'), JSON.stringify(origin));
  const accepted = [
    'https://app.example.com',
    'https://app.example.com:8443',
    'https://xn--bcher-kva.example',
    'https://192.0.2.7',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'https://auth.example.com:8443',
  ];
  for (const origin of accepted) assert.equal(check({ origin }).origin, origin);
});

nodeTest('the URL to return to is absolute, secure and of the origin', () => {
  const origin = 'https://app.example.com';
  const refused: readonly string[] = [
    '/settings',
    'settings',
    'http://app.example.com/settings',
    'https://ada:secret@app.example.com/settings',
    'https://evil.example/settings',
    'https://app.example.com:8443/settings',
    'javascript:alert(1)',
    'data:text/html,a',
    'https://',
    `https://app.example.com/${'ü'.repeat(700)}`,
  ];
  for (const returnUrl of refused)
    assert.throws(() => check({ origin, returnUrl }), pointsTo('/returnUrl'), returnUrl.slice(0, 60));
  assert.equal(check({ origin, returnUrl: 'https://APP.example.com/a b?c#d' }).returnUrl, `${origin}/a%20b?c#d`);
  const { origin: none, returnUrl } = check({ returnUrl: 'http://localhost:3000' });
  assert.deepEqual([none, returnUrl], [undefined, 'http://localhost:3000/']);
  for (const text of own) assert.throws(() => check({ returnUrl: `${text}/settings` }), pointsTo('/returnUrl'), text);
  assert.throws(() => check({}), pointsTo('/origin'));
});

nodeTest('the name of a person has the rules of nicknames, and at most 100 bytes', () => {
  const origin = 'https://app.example.com';
  const person = (name: string) => check({ origin, person: { id: 'u_7', name } });
  for (const name of ['', ' Ada', 'Ada\n', 'A\u202Eda', '\uD800', 'a'.repeat(65)])
    assert.throws(() => person(name), { code: 'nickname_invalid' }, JSON.stringify(name));
  assert.throws(() => person('日'.repeat(34)), pointsTo('/person/name'));
  assert.deepEqual(person('日'.repeat(33)).person, { id: 'u_7', name: '日'.repeat(33) });
  assert.deepEqual(person('Ame\u0301lie').person, { id: 'u_7', name: 'Amélie' });
  assert.deepEqual(check({ origin, person: { id: 'u_7' } }).person, { id: 'u_7', name: null });
});

test('the contract rejects other members and values, and an unknown service account is not found', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const refused: readonly object[] = [
    { capabilities: [] },
    { capabilities: ['read', 'read'] },
    { capabilities: ['read', 'disable'] },
    { capabilities: 'read' },
    { scopes: ['a b'] },
    { scopes: ['orders:read', 'orders:read'] },
    { scopes: null },
    { scopes: Array.from({ length: 33 }, (_, index) => `s${index}`) },
    { person: {} },
    { person: { id: 'ada lovelace' } },
    { person: { id: 'a\u0000' } },
    { person: { id: 'é' } },
    { person: { id: 'a'.repeat(129) } },
    { person: { id: 'a', email: 'ada@example.com' } },
    { origin: null },
    { origin: `https://${'a'.repeat(250)}.com` },
    { returnUrl: `https://app.example.com/${'a'.repeat(2_048)}` },
    { externalId: '' },
    { externalId: 'a\u0000' },
    { expiresAt: '2036-01-31T00:00:00Z' },
    { origin: 'https://app.example.com/' },
  ];
  for (const request of refused)
    assertRejected(await backend.request(request), 'invalid_request', JSON.stringify(request));
  assertRejected(await backend.request({ externalId: 'unknown' }), 'account_not_found');
  const stranger = await newPortalBackend(app);
  assertRejected(await backend.request({ externalId: stranger.externalId }), 'account_not_found');
  assert.equal((await backend.request()).status, 201);
});

test('no page of the service itself can show the key page in a frame', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CONSOLE_URL: 'http://console.localhost:8080' } });
  const backend = await newPortalBackend(app);
  for (const origin of [new URL(app.service.publicUrl).origin, 'http://console.localhost:8080'])
    assertRejected(await backend.request({ origin }), 'invalid_request', origin);
});

const pointsTo =
  (pointer: string) =>
  (error: unknown): boolean =>
    error instanceof DomainError && error.code === 'invalid_request' && error.options.errors?.[0]?.pointer === pointer;
