/** Verification of access tokens together with their sessions. `token-pairs.ts` issues and ends them. */
import type { Role } from '../accounts/accounts.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { assertRecentSignIn } from '../../foundation/recent-sign-in.ts';
import type { Core } from '../../foundation/core.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { AccessTokenClaims, AccessTokens, UnverifiedToken } from './access-token.ts';
import * as store from '../sessions/store.ts';

export interface TokensOptions extends Core {
  readonly accessTokens: AccessTokens;
  readonly pendingAccountChanges: Pick<PendingChanges<string>, 'assertNone'>;
}

/** Why an access token is rejected. */
export type AccessTokenRefusal = 'malformed' | 'expired' | 'not_found' | 'disabled';

export interface RefusedToken {
  readonly valid: false;
  readonly code: AccessTokenRefusal;
}

/** A token that names a session of its account. It may be forged until its signature is verified. */
export interface FoundToken {
  readonly token: UnverifiedToken;
  readonly session: store.SessionState;
}

export type AccessTokenResult =
  | {
      readonly valid: true;
      readonly claims: AccessTokenClaims;
      readonly role: Role;
      readonly signedInAt: number;
      /** Whether the account lacks a required second factor: then the token is valid only for enrolling one. */
      readonly mustEnrol: boolean;
    }
  | RefusedToken;

const malformed: RefusedToken = { valid: false, code: 'malformed' };
const expired: RefusedToken = { valid: false, code: 'expired' };
const notFound: RefusedToken = { valid: false, code: 'not_found' };
const disabled: RefusedToken = { valid: false, code: 'disabled' };

export class Tokens {
  readonly #options: TokensOptions;
  readonly #sessionStates: CoalescingReader<readonly [id: string, kid: string], store.SessionState>;

  constructor(options: TokensOptions) {
    const { db } = options;
    this.#options = options;
    this.#sessionStates = new CoalescingReader((lookups) => store.findSessionStates(db, lookups), db.sharedReads);
  }

  /**
   * Checks everything but the signature of a token. Reads the session and the account each time: sign-out, a new password and
   * disabling take effect immediately. Anyone can write a token with a published `kid`, so its signature is worth verifying
   * only if its session exists: an id of a session has 128 random bits.
   */
  async find(accessToken: string): Promise<FoundToken | RefusedToken> {
    const { clock, accessTokens } = this.#options;
    const token = await accessTokens.read(accessToken);
    if (token === undefined) return malformed;
    if (token === 'expired') return expired;
    const { kid, sessionId, accountId } = token.claims;
    const [mayBeSigned, session] = await Promise.all([
      accessTokens.mayBeSigned(token),
      this.#sessionStates.read([sessionId, kid]),
    ]);
    if (!mayBeSigned) return malformed;
    if (session?.accountId !== accountId) return notFound;
    const isLive = session.isCurrentEpoch === 1 && store.isInTime(session, clock.now());
    return isLive || session.accountDisabledAt !== null ? { token, session } : notFound;
  }

  /**
   * Verifies the signature of a token in another thread: strangers can send tokens to the routes for verification.
   * @throws DomainError `unavailable` when the account may have been deleted or disabled, or too many signatures wait
   */
  async verify(found: FoundToken | RefusedToken): Promise<AccessTokenResult> {
    if ('valid' in found) return found;
    return this.#resultFor(found, await this.#options.accessTokens.isSignedInTurn(found.token));
  }

  /** @throws DomainError `unavailable` when the account may have been deleted or disabled */
  #resultFor({ token: { claims }, session }: FoundToken, isSigned: boolean): AccessTokenResult {
    // The same result as for an unknown session: a forged token does not show whether a session exists.
    if (!isSigned) return notFound;
    if (session.accountDisabledAt !== null) return disabled;
    this.#options.pendingAccountChanges.assertNone(claims.accountId);
    const { accountRole: role, createdAt: signedInAt, mustEnrol } = session;
    return { valid: true, claims, role, signedInAt, mustEnrol: mustEnrol === 1 };
  }

  /**
   * Verifies the signature in this thread, which takes less processor time than another one.
   * @param isOpenBeforeEnrolment whether to accept an account that lacks a required second factor
   * @throws DomainError `invalid_access_token`, `second_factor_enrolment_required`
   */
  async principalOf(accessToken: string, isOpenBeforeEnrolment = false): Promise<AccountPrincipal> {
    const found = await this.find(accessToken);
    const result = 'valid' in found ? found : this.#resultFor(found, this.#options.accessTokens.isSigned(found.token));
    if (!result.valid) throw new DomainError('invalid_access_token');
    if (result.mustEnrol && !isOpenBeforeEnrolment) throw new DomainError('second_factor_enrolment_required');
    const { role, signedInAt } = result;
    const { accountId, sessionId, kid } = result.claims;
    return { kind: 'account', accountId, sessionId, kid, role, signedInAt };
  }

  /** For sensitive operations. @throws DomainError `reauth_required` when the sign-in was too long ago */
  assertRecent(principal: AccountPrincipal): void {
    assertRecentSignIn(principal, this.#options.clock.now());
  }
}
