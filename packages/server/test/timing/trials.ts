/** What an attacker would compare: for each endpoint, requests that must look alike, and one that may not. */
import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { hash as hashArgon2 } from '@node-rs/argon2';
import { hash as hashBcrypt } from '@node-rs/bcrypt';
import { randomBase62 } from '../../src/foundation/crypto/secret.ts';
import { basic, goodPassword } from '../e2e/program.ts';
import type { TimedRequest } from './asking.ts';

export interface Trial {
  readonly name: string;
  /** By the kind of email: the next request of it. */
  readonly requests: Readonly<Record<string, () => TimedRequest>>;
  /** Kinds that nobody may be able to tell apart. */
  readonly alike: readonly (readonly [known: string, unknown: string])[];
  /** Kinds that differ anyway: whether the measurement sees what is there. */
  readonly different: readonly (readonly [string, string])[];
  readonly status: number;
  /** Of so many rounds as others have; more where an answer costs no hash. */
  readonly roundsFactor: number;
}

/** Of each kind, so that none is in a cache more than another. */
export const emailsOfAKind = 10;
const wrongPassword = 'velvet orbit wombat 24';

const emailOf = (kind: string, index: number): string => `${kind}${String(index).padStart(2, '0')}@example.com`;
/** Names of the same length. */
export const accountEmails = (kind: 'known' | 'ended' | ImportedKind): string[] =>
  Array.from({ length: emailsOfAKind }, (_, index) => emailOf(kind, index));

/** One email of a kind after the other. */
function inTurn(kind: string, toRequest: (email: string) => TimedRequest): () => TimedRequest {
  let asked = 0;
  return () => toRequest(emailOf(kind, asked++ % emailsOfAKind));
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
  alike: [
    ['known email, wrong password', 'unknown email'],
    ['disabled account, right password', 'unknown email'],
  ],
  different: [['no password, so nothing to hash', 'unknown email']],
  status: 401,
  roundsFactor: 1,
};

/** Whoever signs up may become known by it, so a new email is another one each time. */
const signUpTrial: Trial = {
  name: '`POST /auth/accounts`',
  requests: {
    'known email': inTurn('known', (email) => ({ path: '/auth/accounts', json: { email, password: goodPassword } })),
    'new email': () => ({
      path: '/auth/accounts',
      json: { email: `n${randomBase62(6).toLowerCase()}@example.com`, password: goodPassword },
    }),
  },
  alike: [['known email', 'new email']],
  different: [],
  status: 202,
  roundsFactor: 1,
};

const reset = (email: string): TimedRequest => ({ path: '/auth/password-resets', json: { email } });

const resetTrial: Trial = {
  name: '`POST /auth/password-resets`',
  requests: { 'known email': inTurn('known', reset), 'unknown email': inTurn('other', reset) },
  alike: [['known email', 'unknown email']],
  different: [],
  status: 202,
  roundsFactor: 3,
};

export const trials: readonly Trial[] = [signInTrial, signUpTrial, resetTrial];

/** Accounts whose hash comes from another system and that have not signed in since. */
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

/** The body of `import accounts`. */
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
  alike: [
    ['known email, wrong password', 'unknown email'],
    ...importedNames.map((kind) => [imported(kind), 'unknown email'] as const),
  ],
  different: [['no password, so nothing to hash', 'unknown email']],
  status: 401,
  roundsFactor: 1,
};

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');
