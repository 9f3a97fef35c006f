/**
 * Single sign-on of administrators: the start, the response of the provider, and the end of sessions that the provider ends.
 * The sessions are those of the console.
 */
import type { ConsolePrincipal } from '../../foundation/principal.ts';
import { timingSafeEqual } from 'node:crypto';
import type { Core } from '../../foundation/core.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { ConsoleSessions, StartedSession } from '../console/console-sessions.ts';
import { useChallengeTx } from '../passkeys/store.ts';
import { setAuthenticatedAtTx } from '../sessions/console-store.ts';
import { endSession, endSessionTx } from '../sessions/store.ts';
import type { OnFound, SignIns } from '../tokens/sign-ins.ts';
import type { Client } from '../tokens/start-session.ts';
import type { AuthorizationRequest, AuthorizationRequests } from './authorization-request.ts';
import { personOf, type AdministratorClaim } from './claims.ts';
import type { Identities } from './identities.ts';
import { LogoutTokens } from './logout-token.ts';
import type { Provider } from './provider.ts';
import { Refusal } from './refusal.ts';
import { addSessionTx, listSessionsTx } from './store.ts';

export interface SingleSignOnOptions extends Core {
  /** Identifies used logout tokens. */
  readonly hash: KeyedHash;
  readonly provider: Provider;
  readonly requests: AuthorizationRequests;
  readonly identities: Identities;
  readonly signIns: SignIns;
  readonly sessions: ConsoleSessions;
  readonly administrator: AdministratorClaim;
}

export interface StartOptions {
  readonly returnTo?: string | undefined;
  readonly isConfirmation?: boolean | undefined;
}

export class SingleSignOn {
  readonly #options: SingleSignOnOptions;
  readonly #logoutTokens: LogoutTokens;

  constructor(options: SingleSignOnOptions) {
    this.#options = options;
    this.#logoutTokens = new LogoutTokens(options.provider, options.clock);
  }

  /** A value of Set-Cookie: a response of the provider uses the cookie up. */
  get expiredCookie(): string {
    return this.#options.requests.expired;
  }

  /**
   * Stores nothing.
   * @param replaced the session of the cookie that the request has
   * @returns the page of the provider, and a value of Set-Cookie
   * @throws DomainError `identity_provider_unavailable`
   */
  async start(
    { returnTo = '/console', isConfirmation = false }: StartOptions,
    replaced: ConsolePrincipal | undefined,
  ): Promise<{ readonly location: string; readonly cookie: string }> {
    const { clock, provider, requests } = this.#options;
    const session = replaced ? { accountId: replaced.accountId, sessionId: replaced.sessionId } : null;
    const { request, cookie } = requests.make({ returnTo, isConfirmation, replaced: session }, clock.now());
    return { location: await provider.authorizationUrl(request), cookie };
  }

  /**
   * Starts a session after the response of the provider, and ends the one that it replaces (ASVS 5.0 7.2.4).
   * @param parameters of the response
   * @param cookie the header Cookie
   * @throws Refusal, DomainError `identity_provider_unavailable`, `too_many_attempts`, `invalid_credentials` when the account
   *   has changed meanwhile
   */
  async finish(
    parameters: Readonly<Record<string, string>>,
    cookie: string | undefined,
    client: Client,
  ): Promise<{ readonly started: StartedSession; readonly returnTo: string }> {
    const { db, clock, requests, signIns, sessions } = this.#options;
    const request = requests.read(cookie, clock.now());
    if (!request || !isEqual(parameters['state'] ?? '', request.state)) throw new Refusal('expired');
    const check = (onFound: OnFound) => this.#check(parameters, request, onFound);
    const signIn = { attempt: `single sign-on ${request.state}`, check, client };
    const started = await signIns.withProvider(signIn, (account, now) => sessions.begin(account, now));
    const { replaced, returnTo } = request;
    if (replaced) {
      const principal = { kind: 'account', ...replaced } as const;
      // The browser replaces the cookie in any case, so a failure only leaves a session that ends when it is idle.
      await endSession(db, { principal, now: clock.now() }, replaced.sessionId).catch(() => undefined);
    }
    return { started, returnTo };
  }

  /**
   * Ends the sessions that a logout token names. Each token is used once, so a copy ends no later session.
   * @throws DomainError `invalid_request`, `identity_provider_unavailable`
   */
  async endSessions(logoutToken: string): Promise<void> {
    const { db, clock, hash, provider } = this.#options;
    const logout = await this.#logoutTokens.verify(logoutToken);
    const mac = hash.mac(JSON.stringify(['logout token', provider.issuer, logout.id]));
    await db.transaction(async (tx) => {
      if (!(await useChallengeTx(tx, { mac, expiresAt: logout.expiresAt }))) return;
      for (const id of await listSessionsTx(tx, provider.issuer, logout))
        await endSessionTx(tx, { principal: { kind: 'system' }, now: clock.now() }, id);
    });
  }

  /** The request is used up before the provider gets the code, so a repeated response causes no request. */
  async #check(parameters: Readonly<Record<string, string>>, request: AuthorizationRequest, onFound: OnFound) {
    const { db, clock, provider, identities, administrator } = this.#options;
    if (!(await db.transaction((tx) => useChallengeTx(tx, request)))) throw new Refusal('expired');
    const person = personOf(await provider.redeem(parameters, request), administrator);
    const { account, identityId } = await identities.resolve(person, onFound);
    const redeemTx = async (tx: Transaction, sessionId: string): Promise<void> => {
      const now = clock.now();
      if (!(await addSessionTx(tx, { sessionId, identityId, sid: person.sid, now })))
        throw new DomainError('invalid_credentials');
      // A session at the provider may be older than the recent sign-in that changes require.
      const { authenticatedAt } = person;
      if (authenticatedAt !== undefined && authenticatedAt < now)
        await setAuthenticatedAtTx(tx, sessionId, authenticatedAt);
    };
    return { account, proof: { kind: 'single_sign_on', identityId, redeemTx } as const };
  }
}

function isEqual(text: string, expected: string): boolean {
  const [bytes, expectedBytes] = [Buffer.from(text), Buffer.from(expected)];
  return bytes.length === expectedBytes.length && timingSafeEqual(bytes, expectedBytes);
}
