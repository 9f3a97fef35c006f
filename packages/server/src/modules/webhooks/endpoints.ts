/** Webhook endpoints: administrators and operators create, change, test and delete them. */
import { limits, webhookEvents, type Webhook, type WebhookEvent } from '@keyreeve/contract';
import type { Act, Principal } from '../../foundation/principal.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import { randomId, type Secret } from '../../foundation/crypto/secret.ts';
import { recordingChanges, runNarrowing } from '../deletion-journal/run-narrowing.ts';
import type { RecordingCore, Revocation } from '../deletion-journal/revocation.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import type { AddressGuard } from '../../foundation/outgoing/address-guard.ts';
import { acceptUrl } from './endpoint-url.ts';
import { bodyOf } from './publisher.ts';
import { rotateSecret, type Attempt, type Sender, type StoredSecret } from './sender.ts';
import { makeSigningSecret } from './signature.ts';
import * as store from './store.ts';

export interface EndpointsOptions extends RecordingCore {
  readonly seal: Sealer;
  readonly guard: AddressGuard;
  readonly sender: Sender;
}

/** An endpoint with an id and a secret that the caller chose. */
export interface Declared {
  readonly id: string;
  readonly secret: Secret;
  readonly url: string;
  readonly events: readonly string[];
}

export interface Endpoint extends Omit<store.CountedEndpointRow, 'secret' | 'events'> {
  readonly events: readonly WebhookEvent[];
}

export class Endpoints {
  readonly #options: EndpointsOptions;

  constructor(options: EndpointsOptions) {
    this.#options = options;
  }

  /**
   * Creates an endpoint, which receives the events that are committed from then on.
   * @returns the endpoint and its secret, which cannot be read again
   * @throws DomainError `webhook_url_refused`, `invalid_request` for an unknown event, `webhook_limit_reached`,
   *   `invalid_access_token` when the session has ended meanwhile
   */
  async create(
    principal: Principal,
    request: { readonly url: string; readonly events: readonly string[] },
  ): Promise<Endpoint & { secret: Secret }> {
    const { db, clock } = this.#options;
    const id = randomId('whe');
    const secret = makeSigningSecret();
    const now = clock.now();
    const { url, events, storeTx } = this.prepare({ principal, now }, { id, secret, ...request });
    await db.transaction(storeTx);
    const times = { createdAt: now, updatedAt: now, disabledAt: null };
    return { id, url, events, ...times, ...neverTried, secret };
  }

  /** {@link create} in a transaction of the caller. @throws DomainError as `create`; `storeTx` too */
  prepare(
    { principal, now }: Act,
    { id, secret, ...request }: Declared,
  ): {
    readonly url: string;
    readonly events: WebhookEvent[];
    readonly storeTx: (tx: Transaction) => Promise<void>;
  } {
    const { guard } = this.#options;
    const url = acceptUrl(request.url, guard);
    const events = acceptEvents(request.events);
    const row = { id, url, secret: this.#sealed(id, secret), events: events.join(' '), now };
    const storeTx = (tx: Transaction): Promise<void> =>
      store.createEndpointTx(tx, principal, row, limits.webhookEndpointsMax);
    return { url, events, storeTx };
  }

  /**
   * Gives an endpoint the URL, the events and the secret, in a transaction of the caller, who records the narrowing. For a new
   * secret and the same URL, deliveries are signed with the previous one too, as after {@link rotateSecret}.
   * @returns the entries of the deletion journal, and the changed members
   * @throws DomainError as {@link change}
   */
  async changeTx(
    tx: Transaction,
    act: Act,
    { id, secret, ...request }: Declared,
  ): Promise<{ readonly recorded: readonly Revocation[]; readonly changed: readonly string[] }> {
    const { seal, guard } = this.#options;
    const url = acceptUrl(request.url, guard);
    const events = acceptEvents(request.events).join(' ');
    const before = await store.lockEndpointTx(tx, id);
    if (!before) throw notFound(id);
    const change = { id, url, events, secret: this.#sealed(id, secret) };
    const { hasNewUrl, isNarrowed } = await store.changeEndpointTx(tx, act, change);
    const stored = JSON.parse(seal.open(id, before.secret)) as StoredSecret;
    const hasNewSecret = !hasNewUrl && stored.current !== secret.reveal();
    if (hasNewSecret)
      await store.replaceSecretTx(tx, act, id, () =>
        seal.seal(id, JSON.stringify(rotateSecret(stored, secret, act.now))),
      );
    return {
      recorded: isNarrowed ? [{ kind: 'webhook_disabled', id, at: act.now }] : [],
      changed: [
        ...(hasNewUrl ? ['url'] : []),
        ...(events === before.events ? [] : ['events']),
        ...(hasNewSecret ? ['secret'] : []),
      ],
    };
  }

  #sealed(id: string, secret: Secret): Uint8Array {
    const stored: StoredSecret = { current: secret.reveal() };
    return this.#options.seal.seal(id, JSON.stringify(stored));
  }

  async list(): Promise<Endpoint[]> {
    return (await store.listEndpoints(this.#options.db)).map(toEndpoint);
  }

  /** @throws DomainError `webhook_not_found` */
  async find(id: string): Promise<Endpoint> {
    const row = await store.findCountedEndpoint(this.#options.db, id);
    if (!row) throw notFound(id);
    return toEndpoint(row);
  }

  /**
   * Changes the URL, the events or both. A new URL gets a new secret, which cannot be read again, and no delivery that an
   * earlier secret signs. Waiting deliveries stay. If the receiver gets less than before, the journal records it: a restored
   * endpoint with the earlier URL or events is disabled.
   * @returns the endpoint, and the secret of a new URL
   * @throws DomainError as {@link create}, except `webhook_limit_reached`; `webhook_not_found`, `unavailable`
   */
  async change(
    principal: Principal,
    id: string,
    request: { readonly url?: string | undefined; readonly events?: readonly string[] | undefined },
  ): Promise<{ endpoint: Endpoint; secret: Secret | undefined }> {
    const { clock, guard } = this.#options;
    const secret = makeSigningSecret();
    const change: store.EndpointChange = {
      id,
      url: request.url === undefined ? undefined : acceptUrl(request.url, guard),
      events: request.events === undefined ? undefined : acceptEvents(request.events).join(' '),
      secret: this.#sealed(id, secret),
    };
    const at = clock.now();
    const { endpoint, hasNewUrl } = await runNarrowing<string, store.ChangedEndpoint>(this.#options, {
      changeTx: (tx) => store.changeEndpointTx(tx, { principal, now: at }, change),
      recordedOf: ({ isNarrowed }) => (isNarrowed ? [{ kind: 'webhook_disabled', id, at }] : []),
    });
    return { endpoint: toEndpoint(endpoint), secret: hasNewUrl ? secret : undefined };
  }

  /**
   * The journal records it, so that a restore sends no more events to the receiver.
   * @throws DomainError `webhook_not_found`, `invalid_access_token`, `unavailable`
   */
  async disable(principal: Principal, id: string): Promise<void> {
    const { db, clock, revocations } = this.#options;
    const at = clock.now();
    await recordingChanges(revocations, { kind: 'webhook_disabled', id, at }, () =>
      store.disableEndpoint(db, { principal, now: at }, id),
    );
  }

  /** @throws DomainError `webhook_not_found`, `invalid_access_token` */
  async enable(principal: Principal, id: string): Promise<void> {
    await store.enableEndpoint(this.#options.db, principal, id, this.#options.clock.now());
  }

  /** @throws DomainError `webhook_not_found`, `invalid_access_token`, `unavailable` */
  async delete(principal: Principal, id: string): Promise<void> {
    const { db, clock, revocations } = this.#options;
    const at = clock.now();
    await recordingChanges(revocations, { kind: 'webhook_deleted', id, at }, () =>
      db.transaction((tx) => store.deleteEndpointTx(tx, { principal, now: at }, id)),
    );
  }

  /**
   * Replaces the secret. Deliveries are signed with the previous secret too, until `previousValidUntil`.
   * @throws DomainError `webhook_not_found`, `invalid_access_token`
   */
  async rotateSecret(principal: Principal, id: string): Promise<{ secret: Secret; previousValidUntil: number }> {
    const { db, clock, seal } = this.#options;
    const secret = makeSigningSecret();
    const now = clock.now();
    await db.transaction((tx) =>
      store.replaceSecretTx(tx, { principal, now }, id, (sealed) => {
        const stored = JSON.parse(seal.open(id, sealed)) as StoredSecret;
        return seal.seal(id, JSON.stringify(rotateSecret(stored, secret, now)));
      }),
    );
    return { secret, previousValidUntil: now + limits.webhookSecretOverlapSeconds * 1_000 };
  }

  /**
   * Sends one event of the type `webhook.test` immediately, without retries.
   * @throws DomainError `webhook_not_found`
   */
  async test(id: string): Promise<Attempt> {
    const { db, clock, sender } = this.#options;
    const endpoint = await store.findEndpoint(db, id);
    if (!endpoint) throw notFound(id);
    const messageId = randomId('msg');
    return sender.attempt(endpoint, messageId, bodyOf(messageId, 'webhook.test', clock.now(), { endpointId: id }));
  }
}

const notFound = (id: string): DomainError =>
  new DomainError('webhook_not_found', { detail: `There is no webhook endpoint ${id}.` });

/** @throws DomainError `invalid_request` */
function acceptEvents(names: readonly string[]): WebhookEvent[] {
  const events = webhookEvents.filter((event) => names.includes(event));
  const isUnknown = names.some((name) => !(webhookEvents as readonly string[]).includes(name));
  if (isUnknown || events.length === 0)
    throw invalidAt('/events', `It must name some of ${webhookEvents.join(', ')}.`, { code: 'wrong_value' });
  return events;
}

const neverTried = {
  waiting: 0,
  nextAttemptAt: null,
  failingSince: null,
  lastDeliveredAt: null,
  lastFailedAt: null,
  lastFailure: null,
};

function toEndpoint(row: store.CountedEndpointRow): Endpoint {
  const { secret: _, events, ...shown } = row;
  return { ...shown, events: events.split(' ') as WebhookEvent[] };
}

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

/** The endpoint as the API and the command line show it, copied field by field. */
export const toWebhook = (endpoint: Endpoint): Webhook => ({
  id: endpoint.id,
  url: endpoint.url,
  events: [...endpoint.events],
  createdAt: toInstant(endpoint.createdAt),
  updatedAt: toInstant(endpoint.updatedAt),
  disabledAt: instantOrNull(endpoint.disabledAt),
  waiting: endpoint.waiting,
  nextAttemptAt: instantOrNull(endpoint.nextAttemptAt),
  failingSince: instantOrNull(endpoint.failingSince),
  lastDeliveredAt: instantOrNull(endpoint.lastDeliveredAt),
  lastFailedAt: instantOrNull(endpoint.lastFailedAt),
  lastFailure: endpoint.lastFailure,
});
