/**
 * Sign-ins: the check of the credentials and the creation of a session are separate, so that every kind of session begins
 * with the same limits, counts, mail and audit event.
 */
import type { AuthenticationResponse, ErrorCode, SecondFactorMethod } from '@keyreeve/contract';
import type { Accounts, AuthenticatedAccount } from '../accounts/accounts.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Mailer } from '../mail/mail.ts';
import type { PasskeyProof, PasskeySignIns } from '../passkeys/sign-ins.ts';
import type { PasswordChecks } from '../rate-limits/password-checks.ts';
import {
  failedSignIns,
  type AssessedAttempt,
  type Reservation,
  type SignInLimits,
} from '../rate-limits/sign-in-limits.ts';
import type { SecondFactors } from '../second-factors/second-factors.ts';
import type { NewSession } from '../sessions/store.ts';
import { describeClient, startSession, type Client, type Proof, type ProviderProof } from './start-session.ts';

export interface SignInsOptions extends RecordingCore {
  readonly accounts: Accounts;
  readonly secondFactors: SecondFactors;
  readonly passkeys: PasskeySignIns;
  readonly mailer: Mailer;
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
  /** Response of a passkey as the second factor; checked only after a right password, and instead of the code. */
  readonly passkey?: AuthenticationResponse | undefined;
  readonly client: Client;
}

export interface PasskeySignIn {
  readonly passkey: AuthenticationResponse;
  readonly client: Client;
}

export interface ProviderSignIn {
  /** Distinguishes the attempt in the counts. */
  readonly attempt: string;
  /**
   * Lets the provider authenticate the account. Throws DomainError: only after `invalid_credentials`, the attempt stays
   * counted as a failure.
   */
  readonly check: (
    onFound: OnFound,
  ) => Promise<{ readonly account: AuthenticatedAccount; readonly proof: ProviderProof }>;
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
export type SignInCounts = Record<'accepted' | 'refused' | 'limited' | 'overloaded', number>;

export type OnFound = (accountId: string) => void;

/** Credentials that were right when they were checked. */
interface Checked {
  readonly account: AuthenticatedAccount;
  /** Undefined when the account has no second factor. */
  readonly proof: Proof | undefined;
  readonly reservation: Reservation;
}

/**
 * Whether a rejected sign-in may have been a guess. A right password without the required one-time code is not, nor is a
 * sign-in above the limits of successful sign-ins or of password checks in progress.
 */
const mayBeGuess = ({ code, options: { rate } }: DomainError): boolean =>
  code === 'invalid_credentials' ||
  code === 'second_factor_invalid' ||
  code === 'passkey_rejected' ||
  (code === 'too_many_attempts' && rate?.policy === failedSignIns);
/** Codes of sign-ins that were rejected after the check of the password or passkey. */
const refusalCodes: readonly ErrorCode[] = [
  'invalid_credentials',
  'second_factor_required',
  'second_factor_invalid',
  'passkey_rejected',
  // Of a single sign-on.
  'administrator_required',
];
/** A guess of the second factor stays counted as a failed sign-in. */
const wrongFactorCodes: readonly ErrorCode[] = ['second_factor_invalid', 'passkey_rejected'];

export class SignIns {
  readonly counts: SignInCounts = { accepted: 0, refused: 0, limited: 0, overloaded: 0 };
  readonly #options: SignInsOptions;

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  /**
   * Starts a session.
   * @throws DomainError `invalid_credentials`, `second_factor_required`, `second_factor_invalid`, `passkey_rejected`,
   *   `passkeys_unavailable`, `too_many_attempts`, `overloaded`
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

  /**
   * Starts a session with a passkey as the only factor. Attempts with one passkey are limited as those with one email address
   * are, and count in the same limits of client IP ranges.
   * @throws DomainError `passkey_rejected`, `invalid_credentials` when the account has changed meanwhile,
   *   `passkeys_unavailable`, `too_many_attempts`
   */
  withPasskey<T>({ passkey, client }: PasskeySignIn, make: MakeCredential<T>): Promise<T> {
    const { signInLimits, passkeys } = this.#options;
    return this.#count(client, async (onFound) => {
      const reservation = await signInLimits.reserve({
        canonicalEmail: `passkey ${passkey.id}`,
        clientIp: client.clientIp,
      });
      const checked = await passkeys.checkAlone(passkey, onFound).catch(async (error: unknown) => {
        await signInLimits.release(reservation);
        throw error;
      });
      if (!checked) throw new DomainError('passkey_rejected');
      return this.#begin({ ...checked, reservation }, client, make);
    });
  }

  /**
   * Starts a session of an account that an OpenID provider authenticates. Attempts count in the limits of client IP ranges.
   * @throws DomainError what `check` throws, `invalid_credentials` when the account has changed meanwhile,
   *   `too_many_attempts`
   */
  withProvider<T>({ attempt, check, client }: ProviderSignIn, make: MakeCredential<T>): Promise<T> {
    const { signInLimits } = this.#options;
    return this.#count(client, async (onFound) => {
      const reservation = await signInLimits.reserve({ canonicalEmail: attempt, clientIp: client.clientIp });
      const checked = await check(onFound).catch(async (error: unknown) => {
        const isFailure = error instanceof DomainError && error.code === 'invalid_credentials';
        if (!isFailure) await signInLimits.release(reservation);
        throw error;
      });
      return this.#begin({ ...checked, reservation }, client, make);
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
      if (code === 'too_many_attempts') this.counts.limited++;
      if (error instanceof DomainError && mayBeGuess(error))
        this.#options.onFailedSignIn?.({ clientIp: client.clientIp, accountId, reason: error.code });
      if (code === 'overloaded') this.counts.overloaded++;
      throw error;
    }
  }

  /** Counts the attempt, and checks password and second factor. */
  async #checkPassword(
    attempt: AssessedAttempt,
    { user, password, code, passkey }: PasswordSignIn,
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
    const proven = passkey ? this.#provePasskey(account.id, passkey) : this.#prove(account.id, code);
    const proof = await proven.catch((error: unknown) =>
      // A wrong code stays counted. A missing code is neither a failure nor a success.
      error instanceof DomainError && wrongFactorCodes.includes(error.code) ? Promise.reject(error) : release(error),
    );
    return { account, proof, reservation };
  }

  /** @returns undefined when the account has no second factor @throws DomainError `second_factor_required`, `second_factor_invalid`, `too_many_attempts` */
  async #prove(accountId: string, code: string | undefined): Promise<Proof | undefined> {
    const { secondFactors, passkeys } = this.#options;
    const kind = await secondFactors.kindInForce(accountId);
    if (kind === undefined) return undefined;
    if (code === undefined || code === '') {
      const passkey = await passkeys.secondFactorOptions(accountId);
      const methods: SecondFactorMethod[] = kind === 'totp' ? ['code', 'recovery_code'] : ['recovery_code'];
      if (passkey) methods.push('passkey');
      throw new DomainError('second_factor_required', { methods, passkey });
    }
    const proof = await secondFactors.check(accountId, code);
    if (!proof) throw new DomainError('second_factor_invalid');
    return proof;
  }

  /** @returns undefined when the account has no second factor @throws DomainError `passkey_rejected`, `passkeys_unavailable`, `too_many_attempts` */
  async #provePasskey(accountId: string, passkey: AuthenticationResponse): Promise<PasskeyProof | undefined> {
    const { secondFactors, passkeys } = this.#options;
    if (!(await secondFactors.reserve(accountId))) return undefined;
    const proof = await passkeys.checkSecondFactor(accountId, passkey);
    if (!proof) throw new DomainError('passkey_rejected');
    return proof;
  }

  /** Starts the session of an account whose credentials have been checked. */
  async #begin<T>({ account, proof, reservation }: Checked, client: Client, make: MakeCredential<T>): Promise<T> {
    const { db, clock, mailer, signInLimits, secondFactors, passkeys, sessionsPerAccountMax, revocations } =
      this.#options;
    const now = clock.now();
    const { session, result } = await make(account, now);
    const start = {
      account,
      session: { ...session, now, ...describeClient(client) },
      proof,
      failures: reservation.failures,
      sessionsMax: sessionsPerAccountMax,
      revocations,
    };
    const passkey = proof?.kind === 'passkey' ? proof : undefined;
    await passkeys.reportingCopies(account.id, passkey, client.clientIp, () =>
      startSession(db, mailer, start, (tx) => signInLimits.succeedTx(tx, reservation)),
    );
    if (proof && proof.kind !== 'single_sign_on') await secondFactors.succeed(account.id);
    return result();
  }
}
