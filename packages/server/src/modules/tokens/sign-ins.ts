/**
 * Sign-ins: the check of the credentials and the creation of a session are separate, so that every kind of session begins
 * with the same limits, counts, mail and audit event.
 */
import type { ErrorCode } from '@keyreeve/contract';
import type { Accounts, AuthenticatedAccount } from '../accounts/accounts.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { Revocations } from '../deletion-journal/revocation.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Mailer } from '../mail/mail.ts';
import type { PasswordChecks } from '../rate-limits/password-checks.ts';
import {
  failedSignIns,
  type AssessedAttempt,
  type Reservation,
  type SignInLimits,
} from '../rate-limits/sign-in-limits.ts';
import type { FactorProof, SecondFactors } from '../second-factors/second-factors.ts';
import type { NewSession } from '../sessions/store.ts';
import { describeClient, startSession, type Client } from './start-session.ts';

export interface SignInsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly accounts: Accounts;
  readonly secondFactors: SecondFactors;
  readonly mailer: Mailer;
  /** Absent without a deletion journal. */
  readonly revocations: Revocations | undefined;
  readonly signInLimits: SignInLimits;
  readonly checks: PasswordChecks;
  readonly sessionsPerAccountMax: number;
  /** For the log. */
  readonly onFailedSignIn?: (failure: FailedSignIn) => void;
}

export interface PasswordSignIn {
  /** An email address, as it was sent. */
  readonly user: string;
  readonly password: Secret;
  /** One-time code or recovery code of the second factor; checked only after a right password. */
  readonly code: string | undefined;
  readonly client: Client;
}

/** The credential of a new session. */
export interface NewCredential<T> {
  readonly session: Pick<NewSession, 'id' | 'kind' | 'tokenHash' | 'idleExpiresAt' | 'expiresAt'>;
  /** What the client gets. Called after the commit. */
  readonly result: () => T | Promise<T>;
}

/** Runs before the transaction that creates the session: nothing is stored if it fails. @param now milliseconds */
export type MakeCredential<T> = (account: AuthenticatedAccount, now: number) => Promise<NewCredential<T>>;

/** The log record of a failed sign-in, for security monitors. It never contains the email. */
export interface FailedSignIn {
  readonly clientIp: string;
  /** Null for an email without an account, and when the attempt was rejected before the account was looked up. */
  readonly accountId: string | null;
  readonly reason: ErrorCode;
}

/** Sign-ins since the start, for metrics. */
export type SignInCounts = Record<'accepted' | 'refused' | 'throttled' | 'overloaded', number>;

/** What can prove the second factor of an account. */
const methods = ['code', 'recovery_code'] as const;

type OnFound = (accountId: string) => void;

/** Credentials that were right when they were checked. */
interface Checked {
  readonly account: AuthenticatedAccount;
  /** Undefined when the account has no second factor. */
  readonly proof: FactorProof | undefined;
  /** Undefined for a sign-in that no limit of passwords counts. */
  readonly reservation: Reservation | undefined;
}

/**
 * Whether a rejected sign-in may have been a guess. A right password without the required one-time code is not, nor is a
 * sign-in above the limits of successful sign-ins or of password checks in progress.
 */
const mayBeGuess = ({ code, options: { rate } }: DomainError): boolean =>
  code === 'invalid_credentials' ||
  code === 'second_factor_invalid' ||
  (code === 'too_many_attempts' && rate?.policy === failedSignIns);
/** Codes of sign-ins that were rejected after the check of the password. */
const refusalCodes: readonly ErrorCode[] = ['invalid_credentials', 'second_factor_required', 'second_factor_invalid'];

export class SignIns {
  readonly counts: SignInCounts = { accepted: 0, refused: 0, throttled: 0, overloaded: 0 };
  readonly #options: SignInsOptions;

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  /**
   * Starts a session.
   * @throws DomainError `invalid_credentials`, `second_factor_required`, `second_factor_invalid`, `too_many_attempts`,
   *   `overloaded`
   */
  withPassword<T>(signIn: PasswordSignIn, make: MakeCredential<T>): Promise<T> {
    const { signInLimits, checks } = this.#options;
    const { user, client } = signIn;
    return this.#count(client, async (onFound) => {
      // A rejection here costs only reads: a flood of attempts uses neither slots nor commits.
      const attempt = await signInLimits.assess({
        canonicalEmail: parseEmail(user)?.canonicalEmail ?? user,
        clientIp: client.clientIp,
      });
      return checks.run(attempt, async () =>
        // Fails when the account has changed since the password was checked.
        this.#begin(await this.#checkPassword(attempt, signIn, onFound), client, make),
      );
    });
  }

  /** Counts the result of a sign-in, and reports a failure that may have been a guess. */
  async #count<T>(client: Client, signIn: (onFound: OnFound) => Promise<T>): Promise<T> {
    let accountId: string | null = null;
    try {
      const result = await signIn((id) => void (accountId = id));
      this.counts.accepted++;
      return result;
    } catch (error) {
      const code = error instanceof DomainError ? error.code : undefined;
      if (code !== undefined && refusalCodes.includes(code)) this.counts.refused++;
      if (code === 'too_many_attempts') this.counts.throttled++;
      if (error instanceof DomainError && mayBeGuess(error))
        this.#options.onFailedSignIn?.({ clientIp: client.clientIp, accountId, reason: error.code });
      if (code === 'overloaded') this.counts.overloaded++;
      throw error;
    }
  }

  /** Counts the attempt, and checks password and second factor. */
  async #checkPassword(
    attempt: AssessedAttempt,
    { user, password, code }: PasswordSignIn,
    onFound: OnFound,
  ): Promise<Checked> {
    const { accounts, signInLimits } = this.#options;
    const reservation = await signInLimits.reserve(attempt);
    const release = async (error: unknown): Promise<never> => {
      await signInLimits.release(reservation);
      throw error;
    };
    const account = await accounts.authenticate(user, password, onFound).catch(release);
    if (!account) throw new DomainError('invalid_credentials');
    const proof = await this.#prove(account.id, code).catch((error: unknown) =>
      // A wrong code stays counted. A missing code is neither a failure nor a success.
      error instanceof DomainError && error.code === 'second_factor_invalid' ? Promise.reject(error) : release(error),
    );
    return { account, proof, reservation };
  }

  /** @returns undefined when the account has no second factor @throws DomainError `second_factor_required`, `second_factor_invalid`, `too_many_attempts` */
  async #prove(accountId: string, code: string | undefined): Promise<FactorProof | undefined> {
    const { secondFactors } = this.#options;
    if (!(await secondFactors.isInForce(accountId))) return undefined;
    if (code === undefined || code === '') throw new DomainError('second_factor_required', { methods });
    const proof = await secondFactors.check(accountId, code);
    if (!proof) throw new DomainError('second_factor_invalid');
    return proof;
  }

  /** Starts the session of an account whose credentials have been checked. */
  async #begin<T>({ account, proof, reservation }: Checked, client: Client, make: MakeCredential<T>): Promise<T> {
    const { db, clock, mailer, signInLimits, secondFactors, sessionsPerAccountMax, revocations } = this.#options;
    const now = clock.now();
    const { session, result } = await make(account, now);
    const start = {
      account,
      session: { ...session, now, ...describeClient(client) },
      proof,
      failures: reservation?.failures ?? 0,
      sessionsMax: sessionsPerAccountMax,
      revocations,
    };
    await startSession(db, mailer, start, async (tx) => reservation && signInLimits.succeedTx(tx, reservation));
    if (proof) await secondFactors.succeed(account.id);
    return result();
  }
}
