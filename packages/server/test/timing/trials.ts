/** The compared requests: for each endpoint, kinds with equal times, and one with a different time. */
import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { hash as hashArgon2 } from '@node-rs/argon2';
import { hash as hashBcrypt } from '@node-rs/bcrypt';
import { randomBase62 } from '../../src/foundation/crypto/secret.ts';
import { basic, goodPassword } from '../e2e/program.ts';
import type { TimedRequest } from './timed-client.ts';

export interface Trial {
  readonly name: string;
  /** By the kind of request: creates the next one. */
  readonly requests: Readonly<Record<string, () => TimedRequest>>;
  /** Kinds whose responses must be indistinguishable. */
  readonly equal: readonly (readonly [known: string, unknown: string])[];
  /** Kinds with a known difference, which the measurement must detect. */
  readonly different: readonly (readonly [string, string])[];
  readonly status: number;
  /** Multiplies the number of rounds; higher for responses without a password hash. */
  readonly roundsFactor: number;
}

/** The same number of email addresses for each kind, so that caches affect all kinds equally. */
export const emailsOfAKind = 10;
const wrongPassword = 'velvet orbit wombat 24';

const emailOf = (kind: string, index: number): string => `${kind}${String(index).padStart(2, '0')}@example.com`;
/** Email addresses of equal length. */
export const accountEmails = (kind: 'known' | 'ended' | ImportedKind): string[] =>
  Array.from({ length: emailsOfAKind }, (_, index) => emailOf(kind, index));

/** Requests with the email addresses of a kind in turn. */
function inTurn(kind: string, toRequest: (email: string) => TimedRequest): () => TimedRequest {
  let count = 0;
  return () => toRequest(emailOf(kind, count++ % emailsOfAKind));
}

const signIn =
  (password: string) =>
  (email: string): TimedRequest => ({ path: '/auth/token', headers: basic(email, password) });

const signInTrial: Trial = {
  name: '`POST /auth/token`',
  requests: {
    'known email, wrong password': inTurn('known', signIn(wrongPassword)),
    'unknown email': inTurn('other', signIn(wrongPassword)),
    'disabled account, right password': inTurn('ended', signIn(goodPassword)),
    'no password, so nothing to hash': inTurn('known', signIn('')),
  },
  equal: [
    ['known email, wrong password', 'unknown email'],
    ['disabled account, right password', 'unknown email'],
  ],
  different: [['no password, so nothing to hash', 'unknown email']],
  status: 401,
  roundsFactor: 1,
};

/** A sign-up may create an account, so each request uses a new email address. */
const signUpTrial: Trial = {
  name: '`POST /auth/accounts`',
  requests: {
    'known email': inTurn('known', (email) => ({ path: '/auth/accounts', json: { email, password: goodPassword } })),
    'new email': () => ({
      path: '/auth/accounts',
      json: { email: `n${randomBase62(6).toLowerCase()}@example.com`, password: goodPassword },
    }),
  },
  equal: [['known email', 'new email']],
  different: [],
  status: 202,
  roundsFactor: 1,
};

const reset = (email: string): TimedRequest => ({ path: '/auth/password-resets', json: { email } });

const resetTrial: Trial = {
  name: '`POST /auth/password-resets`',
  requests: { 'known email': inTurn('known', reset), 'unknown email': inTurn('other', reset) },
  equal: [['known email', 'unknown email']],
  different: [],
  status: 202,
  roundsFactor: 3,
};

export const trials: readonly Trial[] = [signInTrial, signUpTrial, resetTrial];

/** Accounts with a hash of another system, without a sign-in after the import. */
export const importedKinds = {
  bcrypt: (password: string) => hashBcrypt(password, 8),
  scrypt: (password: string) => {
    const salt = randomBytes(16);
    const digest = scryptSync(password, salt, 32, { N: 2 ** 12, r: 8, p: 1 });
    return Promise.resolve(`$scrypt$ln=12,r=8,p=1$${toBase64(salt)}$${toBase64(digest)}`);
  },
  pbkdf2: (password: string) => {
    const salt = randomBytes(16);
    const digest = pbkdf2Sync(password, salt, 20_000, 32, 'sha256');
    return Promise.resolve(`$pbkdf2-sha256$i=20000$${toBase64(salt)}$${toBase64(digest)}`);
  },
  argon2: (password: string) => hashArgon2(password, { memoryCost: 8_192, timeCost: 2, parallelism: 1 }),
} as const;
export type ImportedKind = keyof typeof importedKinds;

const importedNames = Object.keys(importedKinds) as ImportedKind[];
const imported = (kind: ImportedKind): string => `imported with ${kind}, wrong password`;

/** The input of `import accounts`. */
export async function importedAccounts(): Promise<string> {
  const lines: string[] = [];
  for (const kind of importedNames) {
    for (const email of accountEmails(kind))
      lines.push(JSON.stringify({ email, passwordHash: await importedKinds[kind](goodPassword) }));
  }
  return `${lines.join('\n')}\n`;
}

export const importedTrial: Trial = {
  name: '`POST /auth/token` with imported accounts',
  requests: {
    'unknown email': inTurn('other', signIn(wrongPassword)),
    'known email, wrong password': inTurn('known', signIn(wrongPassword)),
    ...Object.fromEntries(importedNames.map((kind) => [imported(kind), inTurn(kind, signIn(wrongPassword))])),
    'no password, so nothing to hash': inTurn('known', signIn('')),
  },
  equal: [
    ['known email, wrong password', 'unknown email'],
    ...importedNames.map((kind) => [imported(kind), 'unknown email'] as const),
  ],
  different: [['no password, so nothing to hash', 'unknown email']],
  status: 401,
  roundsFactor: 1,
};

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');
