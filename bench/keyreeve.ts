/** Starts the measured Keyreeve, and defines the requests of the benchmarks. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { start, type Running, type StartOptions } from './processes.ts';
import { blank, jsonRequest, requestText, serial, type Pool, type RequestTemplate } from './request.ts';
import { keyIdBytes, type Seeded } from './seeded.ts';

export const repository = join(import.meta.dirname, '..');

/** The command of a copy of the repository. */
export const programOf = (root: string): string => join(root, 'packages/server/bin/keyreeve.js');

/** The environment of the server and of commands on its database. */
export const environmentOf = ({ databaseUrl, masterKey }: Seeded): Readonly<Record<string, string>> => ({
  KEYREEVE_PORT: '0',
  KEYREEVE_ADMIN_PORT: '0',
  // The issuer of access tokens, which therefore stay valid when the server starts again.
  KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
  KEYREEVE_DATABASE_URL: databaseUrl,
  KEYREEVE_MASTER_KEY: masterKey,
  KEYREEVE_THROTTLE: 'off',
  KEYREEVE_KEYS_PER_ACCOUNT_MAX: '100000',
  KEYREEVE_LOG_LEVEL: 'info',
  KEYREEVE_DRAIN_SECONDS: '0',
});

export interface KeyreeveOptions extends StartOptions {
  /** A copy of the repository. Default: this one. */
  readonly root?: string;
  /** Whether a verifier process answers verifications, if the program has this setting. */
  readonly hasVerifier?: boolean;
}

const verifyPortSetting = 'KEYREEVE_VERIFY_PORT';

/** @returns whether the copy of the repository supports processes that only verify */
export function hasVerifyPort(root = repository): boolean {
  const settings = join(root, 'packages/server/src/app/configuration/settings.ts');
  return existsSync(settings) && readFileSync(settings, 'utf8').includes(verifyPortSetting);
}

export function keyreeve(seeded: Seeded, options: KeyreeveOptions = {}): Promise<Running> {
  const { root = repository, hasVerifier = false, env, cores } = options;
  // The program chooses a free port.
  const verifying = hasVerifier && hasVerifyPort(root) ? { [verifyPortSetting]: '0' } : {};
  return start([process.execPath, programOf(root), 'serve'], {
    ...(cores === undefined ? {} : { cores }),
    env: { ...environmentOf(seeded), ...verifying, ...env },
  });
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

export const forwardRequest = (keys: Pool): RequestTemplate => ({
  text: requestText({ method: 'GET', path: '/auth/forward', headers: bearer(blank(keys.recordBytes)) }),
  pool: keys,
});

export const verifyRequest = (keys: Pool, serviceKey: string): RequestTemplate => ({
  text: jsonRequest('/auth/verify', bearer(serviceKey), { credential: blank(keys.recordBytes) }),
  pool: keys,
  contains: '"valid":true',
});

export const batchRequest = (keys: Pool, serviceKey: string, size: number): RequestTemplate => ({
  text: jsonRequest('/auth/verify/batch', bearer(serviceKey), {
    credentials: Array.from({ length: size }, () => blank(keys.recordBytes)),
  }),
  pool: keys,
  contains: '"valid":true',
});

/** @param credentials each record is the base64 of `email:password` */
export const signInRequest = (credentials: Pool): RequestTemplate => ({
  text: requestText({
    method: 'POST',
    path: '/auth/token',
    headers: { Authorization: `Basic ${blank(credentials.recordBytes)}`, 'Content-Length': '0' },
  }),
  pool: credentials,
});

/** @param tokens each record is an access token */
export const createRequest = (tokens: Pool): RequestTemplate => ({
  text: jsonRequest('/auth/api-keys', bearer(blank(tokens.recordBytes)), { nickname: `bench ${serial}` }),
  pool: tokens,
  contains: '"key"',
});

/** @param deletions each record is the id of a key and the access token of its owner */
export const deleteRequest = (deletions: Pool): RequestTemplate => ({
  text: requestText({
    method: 'DELETE',
    path: `/auth/api-keys/${blank(keyIdBytes)}`,
    headers: bearer(blank(deletions.recordBytes - keyIdBytes)),
  }),
  pool: deletions,
  contains: '"message"',
});
