/** Starts the measured Keyreeve, and defines the requests of the benchmarks. */
import { keyIdBytes, type Seeded } from './seed.ts';
import { execute, start, type Running } from './processes.ts';
import { blank, formRequest, jsonRequest, requestText, serial, type Pool, type RequestTemplate } from './request.ts';

const defaultProgram = '../packages/server/bin/keyreeve.js';

/** The environment of the server and of commands on its database. */
export const environmentOf = ({ databaseUrl, masterKey }: Seeded): Readonly<Record<string, string>> => ({
  KEYREEVE_PORT: '0',
  KEYREEVE_ADMIN_PORT: '0',
  KEYREEVE_DATABASE_URL: databaseUrl,
  KEYREEVE_MASTER_KEY: masterKey,
  KEYREEVE_THROTTLE: 'off',
  KEYREEVE_KEYS_PER_ACCOUNT_MAX: '100000',
  KEYREEVE_LOG_LEVEL: 'info',
  KEYREEVE_DRAIN_SECONDS: '0',
});

export const keyreeve = (
  cores: string,
  seeded: Seeded,
  program = defaultProgram,
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> => start(cores, program, ['serve'], { ...environmentOf(seeded), ...environment });

/** Runs a command of the program beside the server. @throws Error if it fails */
export async function keyreeveCommand(cores: string, seeded: Seeded, args: readonly string[]): Promise<void> {
  await execute(cores, defaultProgram, args, environmentOf(seeded));
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

export const forwardRequest = (keys: Pool): RequestTemplate => ({
  text: requestText({ method: 'GET', path: '/auth/forward', headers: bearer(blank(keys.recordBytes)) }),
  pool: keys,
});

export const verifyRequest = (keys: Pool, serviceKey: string): RequestTemplate => ({
  text: jsonRequest('/auth/verify', bearer(serviceKey), { credential: blank(keys.recordBytes) }),
  pool: keys,
  expected: '"valid":true',
});

export const batchRequest = (keys: Pool, serviceKey: string, size: number): RequestTemplate => ({
  text: jsonRequest('/auth/verify/batch', bearer(serviceKey), {
    credentials: Array.from({ length: size }, () => blank(keys.recordBytes)),
  }),
  pool: keys,
  expected: '"valid":true',
});

export const introspectRequest = (keys: Pool, serviceKey: string): RequestTemplate => ({
  text: formRequest('/auth/introspect', bearer(serviceKey), `token=${blank(keys.recordBytes)}`),
  pool: keys,
  expected: '"active":true',
});

/** @param credentials each record is the base64 of `email:password` */
export const signInRequest = (credentials: Pool): RequestTemplate => ({
  text: requestText({
    method: 'POST',
    path: '/auth/token',
    headers: { Authorization: `Basic ${blank(credentials.recordBytes)}`, 'Content-Length': '0' },
  }),
  pool: credentials,
  expected: '"accessToken"',
});

/** @param tokens each record is an access token */
export const createRequest = (tokens: Pool): RequestTemplate => ({
  text: jsonRequest('/auth/api-keys', bearer(blank(tokens.recordBytes)), { nickname: `bench ${serial}` }),
  pool: tokens,
  expected: '"key"',
});

/** @param deletions each record is the id of a key and the access token of its owner */
export const deleteRequest = (deletions: Pool): RequestTemplate => ({
  text: requestText({
    method: 'DELETE',
    path: `/auth/api-keys/${blank(keyIdBytes)}`,
    headers: bearer(blank(deletions.recordBytes - keyIdBytes)),
  }),
  pool: deletions,
  expected: '"message"',
});
