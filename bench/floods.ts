/** The p50 of verifications beside floods of requests that the server rejects, each from another client IP. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { jwtBearerGrant } from '@keyreeve/contract';
import { makeKey } from '../packages/server/src/modules/api-keys/key-format.ts';
import { githubSettings, GithubSigner } from '../packages/server/test-kit/github.ts';
import { during, verifyAt } from './beside.ts';
import type { Bench } from './bench.ts';
import { environmentOf, programOf, repository } from './keyreeve.ts';
import { startLoad } from './load.ts';
import { execute, Programs, type Running } from './processes.ts';
import type { Report } from './report.ts';
import {
  blank,
  formRequest,
  ipBytes,
  jsonRequest,
  requestText,
  withIps,
  writePool,
  type RequestTemplate,
} from './request.ts';
import { rounded, type Measured } from './rounds.ts';
import { emailAt, type Seeded } from './seeded.ts';
import { accessTokensOf } from './tokens.ts';

const verificationsPerSecond = 2_000;
const ratioMax = 1.2;
const differentTokens = 1_000;
/** Of floods without pause, and of the flood of tokens. */
const connections = 64;
/** Each forged token costs a part of a verification, so a flood without pause would measure its own length. */
const forgedTokensPerSecond = 2_000;
const seconds = 600;
const leakedKeys = 100;
const githubMatches = 10;
const different = 20;
/** Of the signature of RS256. */
const rsaBytes = 256;

const forwarded = { 'X-Forwarded-For': blank(ipBytes) };
const list = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

interface Flood {
  readonly rate?: number;
  /** Made for each round, because assertions are valid for two minutes. */
  readonly request: () => RequestTemplate;
}

export async function floods(bench: Bench, report: Report): Promise<void> {
  const github = new GithubSigner();
  const { seeded } = await bench.shared('sqlite');
  await using programs = new Programs();
  const env = {
    ...githubSettings(bench.options.folder, github),
    KEYREEVE_LEAK_REPORTS: 'on',
    KEYREEVE_THROTTLE: 'on',
    KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32',
  };
  const server = programs.add(await bench.keyreeve(seeded, { env }));
  const verify = (): Promise<Measured> => verifyAt(server, seeded, verificationsPerSecond, bench.options.seconds);
  const named = await requestsOf(bench, { server, seeded, github });
  const sides = Object.entries(named).map(([name, { request, rate }]) => {
    const port = rate === undefined ? server.port : server.verifyPort;
    const load = { port, connections, seconds, ...(rate === undefined ? {} : { rate }) };
    return { name, run: () => during([startLoad({ ...load, request: { ...request(), status: '' } })], verify) };
  });
  const found = await bench.compare(report, [{ name: 'alone', run: verify }, ...sides]);
  for (const { name } of sides) {
    const what = `SQLite: p50 of verifications at ${rounded(verificationsPerSecond)}/s beside ${name}, divided by the p50 alone`;
    report.ratio(what, found, [name, 'alone', 'msP50'], { atMost: ratioMax });
  }
}

interface Target {
  readonly server: Running;
  readonly seeded: Seeded;
  readonly github: GithubSigner;
}

async function requestsOf(bench: Bench, { server, seeded, github }: Target) {
  const pool = (name: string, records: readonly string[]) => writePool(bench.file(name), records);
  const ips = pool('ips', withIps(['']));
  const keyTexts = (count: number): string => list(count, () => makeKey('krv').reveal()).join('');
  const keyBytes = keyTexts(1).length;
  const [accessToken = ''] = await accessTokensOf(server.port, 1);
  const sign = await assertions(server, accessToken);
  const { keyId, newToken } = await identityTokens(bench, seeded);
  const signed = accessToken.slice(0, accessToken.lastIndexOf('.') + 1);
  const forged = pool(
    'forged-tokens',
    list(differentTokens, () => signed + randomBytes(64).toString('base64url')),
  );
  const assertionRecords = () => pool('assertions', withIps(list(differentTokens, sign)));
  const named: Readonly<Record<string, Flood>> = {
    'a flood of unknown paths': { request: () => ({ text: jsonRequest('/unknown', forwarded, {}), pool: ips }) },
    'a flood of wrong assertions': {
      request: () => {
        const records = assertionRecords();
        const assertion = blank(records.recordBytes - ipBytes);
        const body = `grant_type=${encodeURIComponent(jwtBearerGrant)}&assertion=${assertion}`;
        return { text: formRequest('/auth/oauth/token', forwarded, body), pool: records };
      },
    },
    'a flood of identity tokens with a wrong signature': {
      request: () => {
        const records = pool('identity-tokens', withIps(list(differentTokens, newToken)));
        const token = blank(records.recordBytes - ipBytes);
        const body = `grant_type=${encodeURIComponent(jwtBearerGrant)}&client_id=${keyId}&assertion=${token}`;
        return { text: formRequest('/auth/oauth/token', forwarded, body), pool: records };
      },
    },
    'a flood of leak reports': {
      request: () => ({
        text: jsonRequest('/auth/leaks', forwarded, { keys: list(leakedKeys, () => blank(keyBytes)) }),
        pool: pool('leaks', withIps(list(different, () => keyTexts(leakedKeys)))),
      }),
    },
    'a flood of reports of GitHub with a wrong signature': {
      request: () => {
        const signature = github.signatureOf('another body');
        const body = list(githubMatches, () => ({ token: blank(keyBytes), type: 'keyreeve_api_key' }));
        const headers = {
          'Github-Public-Key-Identifier': github.keyId,
          'Github-Public-Key-Signature': signature,
        };
        return {
          text: jsonRequest('/auth/leaks/github', { ...forwarded, ...headers }, body),
          pool: pool('matches', withIps(list(different, () => keyTexts(githubMatches)))),
        };
      },
    },
    [`${rounded(forgedTokensPerSecond)} forged access tokens/s with a known kid and session`]: {
      rate: forgedTokensPerSecond,
      request: () => ({
        text: requestText({
          method: 'GET',
          path: '/auth/forward',
          headers: { Authorization: `Bearer ${blank(forged.recordBytes)}` },
        }),
        pool: forged,
      }),
    },
  };
  return named;
}

/** Creates a key with a public key. @returns a function that makes a valid assertion for it, with a random signature */
async function assertions({ port }: Running, accessToken: string): Promise<() => string> {
  const url = `http://127.0.0.1:${port}`;
  const { crv, x, kty } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const created = await fetch(`${url}/auth/api-keys/public`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ nickname: `public ${Date.now()}`, publicKey: { crv, kty, x } }),
  });
  if (created.status !== 201) throw new Error(await created.text());
  const id = String(((await created.json()) as { id: number }).id);
  const metadata = await fetch(`${url}/.well-known/oauth-authorization-server`);
  const { issuer } = (await metadata.json()) as { issuer: string };
  return () => {
    const iat = Math.floor(Date.now() / 1_000);
    const jti = randomBytes(16).toString('hex');
    const claims = { iss: id, sub: id, aud: issuer, iat, exp: iat + 60, jti };
    return `${encode({ alg: 'EdDSA', kid: id })}.${encode(claims)}.${randomBytes(64).toString('base64url')}`;
  };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * Declares an issuer, and creates a key that trusts it.
 * @returns the id of the key, and a function that makes a valid identity token for it, with a random signature
 */
async function identityTokens(bench: Bench, seeded: Seeded): Promise<{ keyId: number; newToken: () => string }> {
  const env = environmentOf(seeded);
  const run = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse(await execute([process.execPath, programOf(repository), ...args, '--json'], { env }));
  const name = `bench${Date.now()}`;
  const issuer = `https://${name}.invalid`;
  const jwks = bench.file('issuer-keys');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: rsaBytes * 8 });
  writeFileSync(jwks, JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: name }] }));
  await run('issuer', 'add', issuer, '--jwks', jwks);
  const trust = JSON.stringify({ issuer, claims: { sub: name } });
  const creation = ['key', 'create', '--account', emailAt(1), '--nickname', name, '--trust', trust];
  const { id: keyId } = (await run(...creation)) as { id: number };
  const newToken = (): string => {
    const iat = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, sub: name, aud: env['KEYREEVE_PUBLIC_URL'], iat, exp: iat + 3_600 };
    // Below the modulus: other signatures cost less.
    const signature = Buffer.concat([Buffer.alloc(1), randomBytes(rsaBytes - 1)]).toString('base64url');
    return `${encode({ alg: 'RS256', kid: name })}.${encode(claims)}.${signature}`;
  };
  return { keyId, newToken };
}
