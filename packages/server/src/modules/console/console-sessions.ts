/**
 * Sessions of the console: sign-in, authentication by the cookie, confirmation, sign-out. Each is a row of `sessions`, so the
 * list of sessions, epochs, disabling and resets apply to it. While the account is an administrator, the session is
 * shorter. The role is read at every request.
 */
import { timingSafeEqual } from 'node:crypto';
import { limits, type AuthenticationResponse, type SecondFactorMethod, type SessionView } from '@keyreeve/contract';
import type { CurrentPassword } from '../accounts/current-password.ts';
import type { Accounts, AuthenticatedAccount, Role } from '../accounts/accounts.ts';
import type { ConsolePrincipal } from '../../foundation/principal.ts';
import { toInstant } from '../../foundation/clock.ts';
import { Secret } from '../../foundation/crypto/secret.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { recordingChanges } from '../deletion-journal/run-narrowing.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { DomainError } from '../../foundation/errors.ts';
import { coarseRange } from '../../foundation/ip-address.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import { redeemPasskeyTx, type PasskeyProof, type PasskeySignIns } from '../passkeys/sign-ins.ts';
import { redeemProofTx, type FactorProof, type SecondFactors } from '../second-factors/second-factors.ts';
import { findOwnAccount, type OwnRow } from '../self-service/store.ts';
import * as sessions from '../sessions/console-store.ts';
import { assertSessionValidTx, endSession, isInTime } from '../sessions/store.ts';
import { describeClient, type Client } from '../tokens/start-session.ts';
import type { MakeCredential, NewCredential, SignIns } from '../tokens/sign-ins.ts';
import type { SessionCookie } from './cookie.ts';

export interface ConsoleSessionsOptions extends RecordingCore {
  readonly accounts: Accounts;
  readonly cookie: SessionCookie;
  readonly currentPassword: CurrentPassword;
  readonly mailer: Mailer;
  readonly passkeys: PasskeySignIns;
  readonly secondFactors: SecondFactors;
  readonly signIns: SignIns;
  /** Bounds that the operator sets for all sessions. */
  readonly idleTtlSeconds: number;
  readonly maxTtlSeconds: number;
  /** Whether administrators sign in with single sign-on only: no password and no passkey confirms their sessions. */
  readonly rejectsAdministrators: boolean;
}

/** A session with a new secret. */
export interface StartedSession {
  readonly view: SessionView;
  /** For Set-Cookie. */
  readonly text: Secret;
}

export interface PasswordProof {
  readonly password: string;
  /** One-time code or recovery code of the second factor. */
  readonly code?: string | undefined;
}

/** What proves the owner of the account, beside the cookie. */
export type Confirmation = PasswordProof | { readonly passkey: AuthenticationResponse };

type SessionTimes = Omit<ConsolePrincipal['session'], 'tokenHash' | 'mustEnrol'>;

export class ConsoleSessions {
  readonly #options: ConsoleSessionsOptions;
  readonly #states: CoalescingReader<readonly [id: string], sessions.ConsoleSessionState>;

  constructor(options: ConsoleSessionsOptions) {
    const { db } = options;
    this.#options = options;
    this.#states = new CoalescingReader((lookups) => sessions.findConsoleSessions(db, lookups), db.sharedReads);
  }

  /**
   * @param replaced the session of the cookie that the request has: it ends (ASVS 5.0 7.2.4)
   * @throws DomainError as `SignIns.withPassword`
   */
  async signIn(
    { email, password, code }: PasswordProof & { readonly email: string },
    client: Client,
    replaced: ConsolePrincipal | undefined,
  ): Promise<StartedSession> {
    const signIn = { user: email, password: new Secret(password), code, client };
    const started = this.#options.signIns.withPassword(signIn, (account, now) => this.begin(account, now));
    return this.#replacing(replaced, await started);
  }

  /**
   * @param first email and password; undefined if the passkey is the only factor
   * @param replaced as in {@link signIn}
   * @throws DomainError as `SignIns.withPasskey` and `SignIns.withPassword`
   */
  async signInWithPasskey(
    passkey: AuthenticationResponse,
    first: { readonly user: string; readonly password: Secret } | undefined,
    client: Client,
    replaced: ConsolePrincipal | undefined,
  ): Promise<StartedSession> {
    const { signIns } = this.#options;
    const make: MakeCredential<StartedSession> = (account, now) => this.begin(account, now);
    const started = first
      ? signIns.withPassword({ ...first, code: undefined, passkey, client }, make)
      : signIns.withPasskey({ passkey, client }, make);
    return this.#replacing(replaced, await started);
  }

  async #replacing(replaced: ConsolePrincipal | undefined, started: StartedSession): Promise<StartedSession> {
    // The browser replaces the cookie in any case, so a failure only leaves a session that ends when it is idle.
    if (replaced) await this.end(replaced).catch(() => undefined);
    return started;
  }

  /** The credential of a new session, for a sign-in. */
  async begin({ id, role }: AuthenticatedAccount, now: number): Promise<NewCredential<StartedSession>> {
    const { text, sessionId, hash } = this.#options.cookie.make();
    const { idleMs, maxMs } = this.#lifetimeOf(role);
    const expiresAt = now + maxMs;
    const times = { createdAt: now, authenticatedAt: now, idleExpiresAt: Math.min(expiresAt, now + idleMs), expiresAt };
    const account = await this.#accountOf(id);
    return {
      session: { id: sessionId, kind: 'console', tokenHash: hash, idleExpiresAt: times.idleExpiresAt, expiresAt },
      result: () => ({ text, view: this.#view(account, sessionId, times) }),
    };
  }

  /**
   * Reads the session and the account each time, in one read.
   * @param text of the cookie
   * @param isPersonsAction whether the request extends the session
   * @returns undefined when there is no such session, or it has ended
   * @throws DomainError `unavailable` when the account may have been deleted or disabled
   */
  async find(text: string | undefined, isPersonsAction: boolean): Promise<ConsolePrincipal | undefined> {
    const { clock, cookie, accounts } = this.#options;
    const presented = text === undefined ? undefined : cookie.parse(text);
    const state = presented && (await this.#states.read([presented.sessionId]));
    if (!presented || !state || !timingSafeEqual(state.tokenHash, presented.hash)) return undefined;
    if (state.accountDisabledAt !== null || state.isCurrentEpoch !== 1) return undefined;
    const now = clock.now();
    const { idleMs, maxMs } = this.#lifetimeOf(state.accountRole);
    const expiresAt = Math.min(state.expiresAt, state.createdAt + maxMs);
    const idleExpiresAt = Math.min(expiresAt, state.idleExpiresAt, state.rotatedAt + idleMs);
    if (!isInTime({ createdAt: state.createdAt, idleExpiresAt, expiresAt }, now)) return undefined;
    accounts.revocations.unfinished.assertNone(state.accountId);
    const change = { id: presented.sessionId, tokenHash: presented.hash, now };
    const extended = Math.min(expiresAt, now + idleMs);
    const isExtended = isPersonsAction && (await this.#extend({ ...change, idleExpiresAt: extended }, state.rotatedAt));
    const { accountId, accountRole: role, createdAt, authenticatedAt, mustEnrol } = state;
    return {
      kind: 'account',
      accountId,
      sessionId: presented.sessionId,
      role,
      signedInAt: authenticatedAt,
      session: {
        tokenHash: presented.hash,
        createdAt,
        authenticatedAt,
        idleExpiresAt: isExtended ? extended : idleExpiresAt,
        expiresAt,
        mustEnrol: mustEnrol === 1,
      },
    };
  }

  async view({ accountId, sessionId, session }: ConsolePrincipal): Promise<SessionView> {
    return this.#view(await this.#accountOf(accountId), sessionId, session);
  }

  /**
   * Proves again that the person is the owner. The session gets a new secret.
   * @throws DomainError `password_wrong`, `second_factor_required`, `second_factor_wrong`, `passkey_rejected`,
   *   `passkeys_unavailable`, `too_many_attempts`, `overloaded`, `console_session_required` when another request has replaced
   *   the secret, `invalid_access_token`
   */
  async confirm(principal: ConsolePrincipal, confirmation: Confirmation, client: Client): Promise<StartedSession> {
    const { db, clock, cookie, mailer, passkeys, revocations, secondFactors } = this.#options;
    const { accountId, sessionId, role = 'admin', session } = principal;
    if (this.#options.rejectsAdministrators && role === 'admin')
      throw new DomainError('passkey' in confirmation ? 'passkey_rejected' : 'password_wrong');
    const proof =
      'passkey' in confirmation
        ? await this.#provePasskey(accountId, confirmation.passkey)
        : await this.#provePassword(principal, confirmation, client);
    const now = clock.now();
    const { text, hash } = cookie.makeFor(sessionId);
    const { idleMs } = this.#lifetimeOf(role);
    const times = { ...session, authenticatedAt: now, idleExpiresAt: Math.min(session.expiresAt, now + idleMs) };
    const { clientIp } = describeClient(client);
    const use = { now, from: coarseRange(clientIp) };
    const confirmTx = async (tx: Transaction): Promise<void> => {
      await assertSessionValidTx(tx, { principal, now });
      const change = { tokenHash: session.tokenHash, now, idleExpiresAt: times.idleExpiresAt };
      if (!(await sessions.replaceConsoleSecretTx(tx, principal, change, hash)))
        throw new DomainError('console_session_required');
      if (proof?.kind === 'passkey') return redeemPasskeyTx(tx, proof, use);
      const used = proof && (await redeemProofTx(tx, principal, proof, use));
      if (proof && !used) throw new DomainError('second_factor_wrong');
      if (used?.codesLeft === undefined) return;
      const { email: to } = (await findOwnAccount(tx, accountId)) ?? { email: '' };
      const data = { at: toInstant(now), clientIp, remaining: used.codesLeft };
      await queueMailTx(tx, mailer.prepare({ to, template: 'recovery_code_used', data }));
    };
    const passkey = proof?.kind === 'passkey' ? proof : undefined;
    await (proof?.kind === 'recovery_code'
      ? recordingChanges(revocations, { accountId, at: now }, () => db.transaction(confirmTx))
      : passkeys.reportingCopies(accountId, passkey, clientIp, () => db.transaction(confirmTx)));
    if (proof) await secondFactors.succeed(accountId);
    if (proof?.kind === 'recovery_code') mailer.sendSoon();
    return { text, view: this.#view(await this.#accountOf(accountId), sessionId, times) };
  }

  /** Nothing if the session has ended meanwhile. */
  async end(principal: ConsolePrincipal): Promise<void> {
    const { db, clock } = this.#options;
    await endSession(db, { principal, now: clock.now() }, principal.sessionId);
  }

  /** @returns undefined when the account has no second factor @throws DomainError as {@link confirm} */
  async #provePassword(
    principal: ConsolePrincipal,
    { password, code }: PasswordProof,
    { clientIp }: Client,
  ): Promise<FactorProof | undefined> {
    const { currentPassword, passkeys, secondFactors } = this.#options;
    const { accountId } = principal;
    await currentPassword.check(principal, new Secret(password), clientIp);
    const kind = await secondFactors.kindInForce(accountId);
    if (kind === undefined) return undefined;
    if (code === undefined || code === '') {
      const methods: SecondFactorMethod[] = kind === 'totp' ? ['code', 'recovery_code'] : ['recovery_code'];
      if (await passkeys.secondFactorOptions(accountId)) methods.push('passkey');
      throw new DomainError('second_factor_required', { methods });
    }
    const proof = await secondFactors.check(accountId, code);
    if (!proof) throw new DomainError('second_factor_wrong');
    return proof;
  }

  /** A passkey alone, with user verification. @throws DomainError `passkey_rejected`, `passkeys_unavailable`, `too_many_attempts` */
  async #provePasskey(accountId: string, response: AuthenticationResponse): Promise<PasskeyProof> {
    const { passkeys, secondFactors } = this.#options;
    // Counted before the verification, which takes up to a few milliseconds. An account without a second factor has no passkeys.
    if (!(await secondFactors.reserve(accountId))) throw new DomainError('passkey_rejected');
    const checked = await passkeys.checkAlone(response);
    if (checked?.account.id !== accountId) throw new DomainError('passkey_rejected');
    return checked.proof;
  }

  /** @returns whether the session was extended. A failed write fails no request: the next one tries again */
  async #extend(change: sessions.ConsoleSessionChange, rotatedAt: number): Promise<boolean> {
    const extendedUntil = change.now - limits.consoleExtensionSeconds * 1000;
    if (rotatedAt > extendedUntil) return false;
    try {
      return (await sessions.extendConsoleSession(this.#options.db, change, extendedUntil)) > 0;
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  #lifetimeOf(role: Role): { readonly idleMs: number; readonly maxMs: number } {
    const { idleTtlSeconds, maxTtlSeconds } = this.#options;
    const isAdministrator = role === 'admin';
    const idle = isAdministrator ? limits.consoleAdministratorIdleSecondsMax : limits.consoleIdleSecondsMax;
    const max = isAdministrator ? limits.consoleAdministratorSecondsMax : limits.consoleSessionSecondsMax;
    return { idleMs: Math.min(idle, idleTtlSeconds) * 1000, maxMs: Math.min(max, maxTtlSeconds) * 1000 };
  }

  /** @throws DomainError `console_session_required` if the account has been deleted */
  async #accountOf(id: string): Promise<OwnRow> {
    const account = await findOwnAccount(this.#options.db, id);
    if (!account) throw new DomainError('console_session_required');
    return account;
  }

  #view(account: OwnRow, sessionId: string, times: SessionTimes): SessionView {
    const { id, email, role, language, requiresSecondFactor } = account;
    const secondFactor = account.hasSecondFactor > 0;
    return {
      account: { id, email, role, language, secondFactor, mustEnrol: requiresSecondFactor === 1 && !secondFactor },
      session: {
        id: sessionId,
        createdAt: toInstant(times.createdAt),
        authenticatedAt: toInstant(times.authenticatedAt),
        idleExpiresAt: toInstant(times.idleExpiresAt),
        expiresAt: toInstant(times.expiresAt),
      },
      now: toInstant(this.#options.clock.now()),
    };
  }
}
