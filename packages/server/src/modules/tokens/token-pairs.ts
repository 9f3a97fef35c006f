/** Sign-in, refresh, sign-out and the sessions of an account. */
import { timingSafeEqual } from 'node:crypto';
import { limits, type AuthenticationResponse, type ListedSession, type TokenPair } from '@keyreeve/contract';
import type { AccountPrincipal, Principal } from '../../foundation/principal.ts';
import { isRecent } from '../../foundation/recent.ts';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { pingDatabase } from '../../foundation/database/installation.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { AccessTokens, SignAccessToken } from './access-token.ts';
import { isSessionId, type RefreshToken, type RefreshTokens } from './refresh-token.ts';
import type { MakeCredential, NewCredential, SignIns } from './sign-ins.ts';
import type { Client } from './start-session.ts';
import * as store from '../sessions/store.ts';
import { UnansweredRefreshes } from './unanswered-refreshes.ts';

export interface TokenPairsOptions extends Core {
  readonly signIns: SignIns;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly idleTtlSeconds: number;
  readonly maxTtlSeconds: number;
  readonly graceSeconds: number;
}

/** Since the start, for metrics. `failed`: the database did not answer. */
export type RefreshCounts = Record<'accepted' | 'refused' | 'failed', number>;

export class TokenPairs {
  readonly unanswered: UnansweredRefreshes;
  readonly refreshes: RefreshCounts = { accepted: 0, refused: 0, failed: 0 };
  readonly #options: TokenPairsOptions;
  readonly #liveSessions: CoalescingReader<readonly [now: number, id: string], store.SessionGeneration>;

  constructor(options: TokenPairsOptions) {
    const { db } = options;
    this.#options = options;
    this.unanswered = new UnansweredRefreshes({ ping: () => pingDatabase(db) });
    this.#liveSessions = new CoalescingReader((lookups) => store.findLiveSessions(db, lookups), db.sharedReads);
  }

  /**
   * Starts a session.
   * @param oneTimePassword a one-time code or recovery code; checked only after a right password
   * @throws DomainError `invalid_credentials`, `second_factor_required`, `second_factor_invalid`, `too_many_attempts`,
   *   `overloaded`
   */
  signIn(user: string, password: Secret, client: Client, oneTimePassword?: string): Promise<TokenPair> {
    const { signIns } = this.#options;
    return signIns.withPassword({ user, password, code: oneTimePassword, client }, (account, now) =>
      this.#firstTokens(account.id, now),
    );
  }

  /**
   * Starts a session with a passkey, as the only factor or after the password.
   * @throws DomainError `passkey_rejected`, `invalid_credentials`, `passkeys_unavailable`, `too_many_attempts`, `overloaded`
   */
  signInWithPasskey(
    passkey: AuthenticationResponse,
    client: Client,
    first?: { readonly user: string; readonly password: Secret },
  ): Promise<TokenPair> {
    const { signIns } = this.#options;
    const make: MakeCredential<TokenPair> = (account, now) => this.#firstTokens(account.id, now);
    return first
      ? signIns.withPassword({ ...first, code: undefined, passkey, client }, make)
      : signIns.withPasskey({ passkey, client }, make);
  }

  /**
   * Replaces a refresh token. A token that was issued within `limits.refreshReuseSeconds` is returned again. The
   * predecessor of the current token gets the same successor during the grace time. An older token ends the session
   * (RFC 9700 section 4.14.2).
   * @throws DomainError `invalid_refresh_token`, `refresh_token_reused`, `unavailable`
   */
  async refresh(text: string): Promise<TokenPair> {
    const presented = this.#options.refreshTokens.parse(text);
    try {
      if (!presented) throw new DomainError('invalid_refresh_token');
      const pair = await this.#refresh(presented);
      this.refreshes.accepted++;
      return pair;
    } catch (error) {
      const isUnavailable = error instanceof DomainError && error.code === 'unavailable';
      this.refreshes[isUnavailable ? 'failed' : 'refused']++;
      if (isUnavailable && presented) this.#recordUnanswered(presented, true);
      throw error;
    }
  }

  /** Records that the response to a refresh was not written, so that a later retry of its client succeeds. */
  recordLostRefresh(text: string): void {
    const presented = this.#options.refreshTokens.parse(text);
    if (presented) this.#recordUnanswered(presented, false);
  }

  /** Ends the session of a current or replaced refresh token. Ignores any other text. */
  async signOut(text: string): Promise<void> {
    const { db, clock, refreshTokens } = this.#options;
    const presented = refreshTokens.parse(text);
    if (!presented) return;
    const now = clock.now();
    const { sessionId } = presented;
    const session = await this.#liveSessions.read([now, sessionId]);
    // The session has ended. That commit may not have reached the standby yet.
    if (!session) return db.confirm();
    const principal: Principal = { kind: 'account', accountId: session.accountId, sessionId };
    await store.endSession(db, { principal, now }, sessionId);
  }

  /** The account's current sessions, newest first. */
  async listSessions({ accountId, sessionId }: AccountPrincipal): Promise<ListedSession[]> {
    const { db, clock } = this.#options;
    const rows = await store.listAccountSessions(db, accountId, clock.now());
    return rows.map(({ id, createdAt, rotatedAt, idleExpiresAt, clientIp, userAgent }) => ({
      id,
      createdAt: toInstant(createdAt),
      lastUsedAt: toInstant(rotatedAt),
      expiresAt: toInstant(idleExpiresAt),
      clientIp,
      userAgent,
      current: id === sessionId,
    }));
  }

  /** @throws DomainError `session_not_found`, `invalid_access_token` */
  async endSession(principal: AccountPrincipal, id: string): Promise<void> {
    const { db, clock } = this.#options;
    if (!isSessionId(id)) throw new DomainError('session_not_found');
    const now = clock.now();
    const session = await this.#liveSessions.read([now, id]);
    const isOwn = session?.accountId === principal.accountId;
    if (!isOwn) await db.confirm();
    if (!isOwn || !(await store.endOwnSession(db, principal, id, now))) throw new DomainError('session_not_found');
  }

  /** @returns the number of ended sessions @throws DomainError `invalid_access_token` */
  endOtherSessions(principal: AccountPrincipal): Promise<number> {
    const { db, clock } = this.#options;
    return store.endOtherSessions(db, principal, clock.now());
  }

  async #firstTokens(accountId: string, now: number): Promise<NewCredential<TokenPair>> {
    const { accessTokens, refreshTokens, idleTtlSeconds, maxTtlSeconds } = this.#options;
    const sign = await accessTokens.signer();
    const token = refreshTokens.first();
    const expiresAt = now + maxTtlSeconds * 1000;
    const idleExpiresAt = Math.min(expiresAt, now + idleTtlSeconds * 1000);
    return {
      session: { id: token.sessionId, tokenHash: token.hash, idleExpiresAt, expiresAt },
      result: () => pairOf(sign, { accountId, createdAt: now }, token),
    };
  }

  async #refresh(presented: RefreshToken): Promise<TokenPair> {
    const { db, clock, accessTokens, refreshTokens, idleTtlSeconds } = this.#options;
    const { sessionId, generation } = presented;
    const now = clock.now();
    const issuedUntil = now - limits.refreshReuseSeconds * 1000;
    const current = await this.#liveSessions.read([now, sessionId]);
    if (!current) return this.#rejectRefresh();
    // Before the rotation: a committed rotation must not fail for lack of a signing key.
    const sign = await accessTokens.signer();
    const isReusable = current.rotatedAt > issuedUntil && current.rotatedAt <= now;
    if (isReusable && isCurrent(presented, current)) return pairOf(sign, current, presented);
    const successor = refreshTokens.successor(presented);
    // Only the newest token can be replaced, so other tokens need no write.
    const isNewest = generation === current.generation;
    const rotation = {
      sessionId,
      generation,
      tokenHash: presented.hash,
      successorHash: successor.hash,
      now,
      issuedUntil,
    };
    const rotated =
      isNewest && (await store.rotateRefreshToken(db, { ...rotation, idleExpiresAt: now + idleTtlSeconds * 1000 }));
    if (rotated) return pairOf(sign, rotated, successor);
    const session = isNewest ? await this.#liveSessions.read([now, sessionId]) : current;
    // A future generation was issued before the database was restored from a backup: it does not prove theft.
    if (!session || generation >= session.generation) return this.#rejectRefresh();
    // The rotation that was read may not have reached the standby yet.
    if (!isNewest) await db.confirm();
    if (isCurrent(successor, session) && this.#isInGrace(presented, session.rotatedAt, now))
      return pairOf(sign, session, successor);
    await store.endSession(db, { principal: { kind: 'system' }, now }, sessionId, 'session.reuse_detected');
    throw new DomainError('refresh_token_reused');
  }

  /** The end of the session may not have reached the standby yet. @throws DomainError `invalid_refresh_token` */
  async #rejectRefresh(): Promise<never> {
    await this.#options.db.confirm();
    throw new DomainError('invalid_refresh_token');
  }

  #recordUnanswered({ sessionId, generation }: RefreshToken, isOutage: boolean): void {
    this.unanswered.record({ sessionId, generation, failedAt: this.#options.clock.now(), isOutage });
  }

  /** Whether the predecessor of the current token was presented within the grace time, with or without a response. */
  #isInGrace(presented: RefreshToken, rotatedAt: number, now: number): boolean {
    const graceMs = this.#options.graceSeconds * 1000;
    const failedAt = this.unanswered.failedAt(presented);
    return isRecent(now, rotatedAt, graceMs) || (failedAt !== undefined && isRecent(failedAt, rotatedAt, graceMs));
  }
}

/** Whether it is the only token that the session accepts. */
const isCurrent = (token: RefreshToken, session: store.SessionGeneration): boolean =>
  token.generation === session.generation && timingSafeEqual(session.tokenHash, token.hash);

async function pairOf(
  sign: SignAccessToken,
  { accountId, createdAt }: Pick<store.SessionGeneration, 'accountId' | 'createdAt'>,
  { sessionId, text }: RefreshToken,
): Promise<TokenPair> {
  return { accessToken: await sign(accountId, sessionId, createdAt), refreshToken: text.reveal() };
}
