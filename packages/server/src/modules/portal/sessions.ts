/**
 * Portal sessions: creation by a management key, redemption of the token by the key page, authentication of its requests, end. Every
 * request reads the session, its management key and its accounts in one snapshot, so that it ends at once and on every instance
 * (docs/decisions/17-key-page.md).
 */
import { timingSafeEqual } from 'node:crypto';
import type { CreatedPortalSession, NewPortalSessionBody, PortalTokenBody } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { randomId, type Secret } from '../../foundation/crypto/secret.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { KeyPrincipal, PortalPrincipal, Principal } from '../../foundation/principal.ts';
import type { RequestCredential } from '../../http/request-credential.ts';
import { reservedPrefix } from '../api-keys/scopes.ts';
import { recordEventTx } from '../audit/audit.ts';
import { PendingChanges, type PendingIds } from '../deletion-journal/pending-changes.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { assertPortalSessionAllowed, countPortalSessionTx } from '../rate-limits/portal-session-limits.ts';
import { assertMayGrant, pointerIn } from '../scope-catalogue/grants.ts';
import { assertCredentialValidTx, assertMayActForTx } from '../service-accounts/acting.ts';
import { notFound, type ServiceAccounts } from '../service-accounts/service-accounts.ts';
import { assertNotReserved, portalDataOf, type OwnOrigins } from './request.ts';
import type { PortalSecrets } from './secrets.ts';
import * as store from './store.ts';
import type { PortalRow } from './store.ts';

export interface PortalSessionsOptions extends RecordingCore {
  readonly secrets: PortalSecrets;
  readonly serviceAccounts: Pick<ServiceAccounts, 'page'>;
  /** Without a slash at the end. */
  readonly publicUrl: string;
  readonly ownOrigins: OwnOrigins;
  /** Whether the scope catalogue is enforced. */
  readonly hasCatalogue: boolean;
  /** Undefined without rate limits. */
  readonly bucketHash: KeyedHash | undefined;
  /** Keys and accounts with changes of unknown outcome: the sessions that depend on them get 503. */
  readonly pendingKeys: PendingIds<number>;
  readonly pendingAccounts: PendingIds<string>;
}

export class PortalSessions {
  /** By id: sessions whose end has an unknown outcome. */
  readonly pending = new PendingChanges<string>();
  readonly #options: PortalSessionsOptions;
  readonly #reader: CoalescingReader<readonly [now: number, hash: Buffer], PortalRow>;

  constructor(options: PortalSessionsOptions) {
    const { db } = options;
    this.#options = options;
    this.#reader = new CoalescingReader((lookups) => store.findBySecrets(db, lookups), db.sharedReads);
  }

  /**
   * @throws DomainError `invalid_request`, `nickname_invalid`, `account_not_found`, `scope_not_entitled`,
   *   `too_many_portal_sessions`, `invalid_management_key`
   */
  async create(principal: KeyPrincipal, body: NewPortalSessionBody): Promise<CreatedPortalSession> {
    const { db, clock, secrets, ownOrigins, bucketHash, publicUrl } = this.#options;
    const data = portalDataOf(body, ownOrigins);
    const accountId = await this.#serviceAccountOf(principal, body.externalId);
    const { scopes = [] } = data;
    assertNotReserved(scopes, reservedPrefix);
    const now = clock.now();
    const counted = { serviceAccountId: accountId, now };
    if (bucketHash) await assertPortalSessionAllowed(db, bucketHash, principal, counted);
    const id = randomId('por');
    const { text, hash: tokenHash } = secrets.makeToken();
    const { keyId, lookup } = principal;
    await db.transaction(async (tx) => {
      await assertMayActForTx(tx, principal, accountId, now);
      if (bucketHash) await countPortalSessionTx(tx, bucketHash, principal, counted);
      if (this.#options.hasCatalogue) await assertMayGrant(tx, accountId, scopes, pointerIn(scopes));
      const session = { id, accountId, keyId, lookup, tokenHash, data, now };
      const evicted = await store.createPortalSessionTx(tx, session);
      const { capabilities, person = null, origin = null } = data;
      const details = { capabilities, scopes: data.scopes ?? null, person: person && { ...person }, origin };
      const event = { at: now, principal, accountId };
      await recordEventTx(tx, { ...event, action: 'portal_session.created', target: id, details });
      for (const target of evicted)
        await recordEventTx(tx, { ...event, action: 'portal_session.ended', target, details: { evicted: true } });
    });
    const ends = store.endsAt(now);
    return {
      id,
      url: `${publicUrl}/portal/${id}#${text.reveal()}`,
      expiresAt: toInstant(ends.session),
      tokenExpiresAt: toInstant(ends.token),
    };
  }

  /**
   * Exchanges the token for the secret of the session. A wrong token causes no write.
   * @throws DomainError `portal_token_invalid` for a token that is wrong, was used, has expired, or whose session has ended;
   *   `unavailable`
   */
  async redeem({ id, token }: PortalTokenBody): Promise<{ readonly secret: Secret; readonly row: PortalRow }> {
    const { db, clock, secrets } = this.#options;
    const tokenHash = secrets.hashOfToken(token);
    const now = clock.now();
    const row = tokenHash && (await this.find(id, now));
    if (!row || row.redeemedAt !== null || !timingSafeEqual(row.tokenHash, tokenHash))
      throw new DomainError('portal_token_invalid');
    const { text: secret, hash: secretHash } = secrets.makeSecret();
    if (!(await db.transaction((tx) => store.redeemTokenTx(tx, { id, tokenHash, secretHash }, now))))
      throw new DomainError('portal_token_invalid');
    return { secret, row: { ...row, redeemedAt: now, expiresAt: store.endsAt(row.createdAt).session } };
  }

  /**
   * Every request of the key page reads the session and everything on which it depends.
   * @throws DomainError `portal_session_ended`, `ambiguous_credentials`, `unavailable`
   */
  async authenticate(presented: RequestCredential): Promise<PortalPrincipal> {
    if (presented.kind === 'ambiguous') throw new DomainError('ambiguous_credentials');
    const hash = presented.kind === 'bearer' ? this.#options.secrets.hashOfSecret(presented.text) : undefined;
    const row = hash && (await this.#reader.read([this.#options.clock.now(), hash]));
    if (!row) throw new DomainError('portal_session_ended');
    this.#assertNonePending(row);
    const { capabilities, scopes, person = null } = row.data;
    const { id: sessionId, ownerId: accountId, keyId, lookup, serviceAccountId } = row;
    return {
      kind: 'portal',
      sessionId,
      accountId,
      keyId,
      lookup,
      serviceAccountId,
      capabilities,
      scopes,
      person,
    };
  }

  /**
   * A session that has not ended, also one whose token was not used. By its id, which is not a secret.
   * @throws DomainError `unavailable`
   */
  async find(id: string, now = this.#options.clock.now()): Promise<PortalRow | undefined> {
    // Other texts may contain characters that PostgreSQL rejects.
    const row = isPortalId(id) ? await store.findPortalSession(this.#options.db, id, now) : undefined;
    if (row) this.#assertNonePending(row);
    return row;
  }

  /**
   * Resolves when every request of the key page that starts later is rejected.
   * @throws DomainError `portal_session_not_found`, also for a session of another owner; `invalid_management_key`, `unavailable`
   */
  async end(principal: KeyPrincipal, id: string): Promise<void> {
    const { clock, db } = this.#options;
    if (!isPortalId(id)) throw new DomainError('portal_session_not_found');
    const now = clock.now();
    await this.#end(principal, id, {
      assertTx: (tx) => assertCredentialValidTx(tx, principal, now),
      deleteTx: (tx) => store.deleteOwnedTx(tx, id, principal.accountId, now),
      read: async () => {
        if (await store.isPortalSessionOf(db, id, principal.accountId, now)) return;
        throw new DomainError('portal_session_not_found');
      },
    });
  }

  /** The key page ends its own session. @throws DomainError `portal_session_ended`, `unavailable` */
  async endOwn(principal: PortalPrincipal): Promise<void> {
    const now = this.#options.clock.now();
    const { sessionId } = principal;
    const ended = this.#end(principal, sessionId, {
      assertTx: (tx) => assertCredentialValidTx(tx, principal, now),
      deleteTx: (tx) => store.deletePortalSessionTx(tx, sessionId),
    });
    await ended.catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.code !== 'portal_session_not_found') throw error;
    });
  }

  /** No journal records it: a restored database has no portal session, and a replay deletes all. */
  async #end(principal: Principal, id: string, { assertTx, deleteTx, read }: End): Promise<void> {
    const at = this.#options.clock.now();
    const endTx = async (tx: Transaction): Promise<void> => {
      const accountId = await deleteTx(tx);
      if (accountId === undefined) throw new DomainError('portal_session_not_found');
      await recordEventTx(tx, { at, principal, action: 'portal_session.ended', accountId, target: id });
    };
    await runNarrowing(this.#options, {
      ...(read && { read }),
      changeTx: async (tx) => {
        await assertTx(tx);
        await endTx(tx);
      },
      // Repeats an end of unknown outcome.
      recordedOf: () => [() => Promise.resolve()],
      repetition: { pending: this.pending, of: () => [{ id, kind: 'end', txs: [endTx] }] },
    });
  }

  /** @throws DomainError `account_not_found`, `invalid_request` */
  async #serviceAccountOf(principal: KeyPrincipal, externalId: string): Promise<string> {
    const { serviceAccounts } = await this.#options.serviceAccounts.page(principal, { externalId });
    const [found] = serviceAccounts;
    if (found) return found.id;
    // A deletion may not have reached the standby yet.
    await this.#options.db.confirm();
    throw notFound();
  }

  /** @throws DomainError `unavailable` */
  #assertNonePending({ id, keyId, ownerId, serviceAccountId }: PortalRow): void {
    const { pendingAccounts, pendingKeys } = this.#options;
    this.pending.assertNone(id);
    pendingKeys.assertNone(keyId);
    pendingAccounts.assertNone(ownerId);
    pendingAccounts.assertNone(serviceAccountId);
  }
}

interface End {
  readonly assertTx: (tx: Transaction) => Promise<void>;
  readonly deleteTx: (tx: Transaction) => Promise<string | undefined>;
  readonly read?: () => Promise<void>;
}

const isPortalId = (text: string): boolean => /^por_[0-9A-Za-z]{22}$/.test(text);
