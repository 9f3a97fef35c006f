/** Verification of access tokens together with their sessions. `token-pairs.ts` issues and ends them. */
import type { Role } from '../accounts/accounts.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { assertRecentSignIn } from '../../foundation/recent-sign-in.ts';
import type { Core } from '../../foundation/core.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { AccessTokenClaims, AccessTokens } from './access-token.ts';
import * as store from '../sessions/store.ts';

export interface TokensOptions extends Core {
  readonly accessTokens: AccessTokens;
  readonly pendingAccountChanges: Pick<PendingChanges<string>, 'assertNone'>;
}

/** Why an access token is rejected. */
export type AccessTokenRefusal = 'malformed' | 'expired' | 'not_found' | 'disabled';

export type AccessTokenResult =
  | {
      readonly valid: true;
      readonly claims: AccessTokenClaims;
      readonly role: Role;
      readonly signedInAt: number;
      /** Whether the account lacks a required second factor: then the token is valid only for enrolling one. */
      readonly mustEnrol: boolean;
    }
  | { readonly valid: false; readonly code: AccessTokenRefusal };

export class Tokens {
  readonly #options: TokensOptions;
  readonly #sessionStates: CoalescingReader<readonly [id: string, kid: string], store.SessionState>;

  constructor(options: TokensOptions) {
    const { db } = options;
    this.#options = options;
    this.#sessionStates = new CoalescingReader((lookups) => store.findSessionStates(db, lookups), db.sharedReads);
  }

  /**
   * Reads the session and the account each time: sign-out, a new password and disabling take effect immediately.
   * @throws DomainError `unavailable` when the account may have been deleted or disabled
   */
  async verify(accessToken: string): Promise<AccessTokenResult> {
    const { clock, accessTokens } = this.#options;
    const claims = await accessTokens.verify(accessToken);
    if (claims === undefined) return { valid: false, code: 'malformed' };
    if (claims === 'expired') return { valid: false, code: 'expired' };
    const session = await this.#sessionStates.read([claims.sessionId, claims.kid]);
    if (!session || session.accountId !== claims.accountId) return { valid: false, code: 'not_found' };
    if (session.accountDisabledAt !== null) return { valid: false, code: 'disabled' };
    const now = clock.now();
    const isLive = session.isCurrentEpoch === 1 && store.isInTime(session, now);
    if (!isLive) return { valid: false, code: 'not_found' };
    this.#options.pendingAccountChanges.assertNone(claims.accountId);
    const { accountRole: role, createdAt: signedInAt, mustEnrol } = session;
    return { valid: true, claims, role, signedInAt, mustEnrol: mustEnrol === 1 };
  }

  /**
   * @param isOpenBeforeEnrolment whether to accept an account that lacks a required second factor
   * @throws DomainError `invalid_access_token`, `second_factor_enrolment_required`
   */
  async principalOf(accessToken: string, isOpenBeforeEnrolment = false): Promise<AccountPrincipal> {
    const result = await this.verify(accessToken);
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
