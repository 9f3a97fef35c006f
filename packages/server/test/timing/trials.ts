/** What an attacker would compare: for each endpoint, requests that must look alike, and one that may not. */
import { randomBase62 } from '../../src/crypto/secret.ts';
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
export const accountEmails = (kind: 'known' | 'ended'): string[] =>
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
