/** An account with data of every kind that the pages for people show, made over the API. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { recordKeyTokenTx, type KeyTokenRow } from '../../../server/src/modules/short-lived-secrets/key-token-store.ts';
import { setProgramTx } from '../../../server/src/modules/api-keys/program-key-store.ts';
import { findIssuersFor } from '../../../server/src/modules/issuers/store.ts';
import { addIssuer } from '../../../server/test-kit/issuers.ts';
import { insertKeys } from '../../../server/test-kit/many-rows.ts';
import { declareProgram, program } from './device.ts';
import { basic, bearer, goodPassword, operator, type TestApp } from '../../../server/test-kit/new-app.ts';

/** Texts that would do harm if a page used them as HTML, or that could break its layout. */
export const hostileTexts = {
  markup: '<img src=x onerror=alert(1)>',
  script: '</td><script>alert(1)</script>',
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈'.repeat(5),
  wide: 'W'.repeat(64),
} as const;
/** U+202E reverses the text after it, and U+2066 has no end. The API rejects it as a nickname; an imported row may have it. */
export const directionText = 'safe\u2066\u202Egnp.exe';

export const hostileUserAgent = 'Mozilla/5.0 "><img src=x onerror=alert(1)><b>bold</b>';

export interface Seeded {
  readonly accountId: string;
  /** Of the person who is signed in: for an administrator, not that of the account `accountId`. */
  readonly email: string;
  readonly accessToken: string;
  /** Ids of keys by nickname. */
  readonly keys: Readonly<Record<string, number>>;
  readonly serviceId: string;
  /** For administrators. */
  readonly webhookId?: string;
}

const inDays = (app: TestApp, days: number): string => new Date(app.clock.now() + days * 86_400_000).toISOString();

const keyRequests = (app: TestApp): readonly Record<string, unknown>[] => [
  { nickname: 'billing worker', scopes: ['orders:read', 'orders:write'], expiresAt: inDays(app, 90) },
  {
    nickname: 'nightly export',
    addresses: ['203.0.113.0/24', '2001:db8::/48'],
    limits: { quota: { limit: 10_000, per: 'day' } },
  },
  { nickname: 'staging', expiresAt: inDays(app, 3) },
  { nickname: 'old laptop' },
  { nickname: 'mobile app' },
  { nickname: 'Acme CLI on laptop', scopes: ['orders:read'], expiresAt: inDays(app, 30) },
];

/** @param language of the sign-in's user agent, which the list of sessions shows */
export async function seedAccount(app: TestApp, email: string, nicknames: readonly string[] = []): Promise<Seeded> {
  const { id: accountId } = await app.createAccount(email);
  const signedIn = await app.call('POST', '/auth/token', {
    headers: { ...basic(email, goodPassword), 'user-agent': hostileUserAgent },
  });
  const { accessToken } = signedIn.json as { accessToken: string };
  const send = async (method: string, path: string, json?: unknown): Promise<Record<string, unknown>> => {
    const answer = await app.call(method, path, {
      headers: bearer(accessToken),
      ...(json === undefined ? {} : { json }),
    });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return (answer.json ?? {}) as Record<string, unknown>;
  };
  const keys: Record<string, number> = {};
  for (const request of [...keyRequests(app), ...nicknames.map((nickname) => ({ nickname }))]) {
    const created = await send('POST', '/auth/api-keys', request);
    keys[String(request['nickname'])] = Number(created['id']);
    if (request['nickname'] === 'billing worker') await use(app, String(created['key']));
  }
  await send('PATCH', `/auth/api-keys/${keys['old laptop']}`, { disabled: true });
  await send('POST', `/auth/api-keys/${keys['mobile app']}/rotate`, { overlapSeconds: 3_600 });
  await insertKeys(app.db, accountId, [
    { id: randomInt(2 ** 47), nickname: directionText, createdAt: app.clock.now(), hint: 'krv_…x7Qa' },
  ]);
  await declareProgram(app);
  await app.db.transaction(async (tx) => setProgramTx(tx, keys[ofProgram]!, program.id));
  keys[trusting] = await seedTrust(app, send);
  const service = await app.service.services.serviceAccounts.create(operator, accountId, { name: `${email} backend` });
  await app.service.services.uses.flush();
  return { accountId, email, accessToken, keys, serviceId: service.id };
}

/** The nickname of a key that a program has made. */
const ofProgram = 'Acme CLI on laptop';
/** The nickname of a key with a trust. */
const trusting = 'release workflow';

type Send = (method: string, path: string, json?: unknown) => Promise<Record<string, unknown>>;

/** A key that trusts an issuer, with accepted tokens and rejected ones. @returns its id */
async function seedTrust(app: TestApp, send: Send): Promise<number> {
  const issuer = 'https://token.actions.githubusercontent.com';
  const known = await findIssuersFor(app.db, '', issuer);
  if (known.length === 0) await addIssuer(app.db, { url: issuer, preset: 'github' });
  const claims = { repository_id: '4711', ref: 'refs/heads/main', environment: hostileTexts.markup };
  const { id } = await send('POST', '/auth/api-keys/public', { nickname: trusting, trust: { issuer, claims } });
  const others = [{ ref: `refs/heads/${hostileTexts.wide}` }, { ref: hostileTexts.script, environment: undefined }];
  const row = { isAccepted: 1, issuer, subject: 'repo:octo/app:ref:refs/heads/main', reason: null, claims: null };
  const rows: readonly Omit<KeyTokenRow, 'at'>[] = [
    row,
    { ...row, subject: null },
    ...others.map((other, n) => ({
      ...row,
      isAccepted: 0,
      subject: `repo:octo/app:${n}`,
      reason: 'claims',
      claims: JSON.stringify({ sub: `repo:octo/app:${n}`, ...claims, ...other }),
    })),
  ];
  for (const [n, one] of rows.entries())
    await app.db.transaction((tx) => recordKeyTokenTx(tx, Number(id), { ...one, at: app.clock.now() - n * 60_000 }));
  return Number(id);
}

/** Accepted verifications in several hours. */
async function use(app: TestApp, key: string): Promise<void> {
  for (let count = 0; count < 12; count++) {
    const { status } = await app.call('GET', '/auth/forward', { headers: bearer(key) });
    assert.equal(status, 200);
  }
}
