/** Deliveries as administrators see them: a list for each endpoint, and replays, which keep the id of the message. */
import {
  limits,
  type ReplayedDeliveries,
  type WebhookDelivery,
  type WebhookDeliveryDetails,
  type WebhookDeliveryPage,
  type WebhookEvent,
} from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, wantsTotal, type PageRequest } from '../../foundation/cursor.ts';
import { countInParts } from '../../foundation/database/totals.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { toMs } from '../../foundation/query-time.ts';
import type { Outbox } from '../outbox/outbox.ts';
import {
  countDeliveries,
  findDelivery,
  listDeliveries,
  newestDelivery,
  replayDelivery,
  replayFailed,
  type DeliveryPlace,
  type DeliveryRow,
  type DeliveryState,
  type ReplayRequest,
  type StoredAttempt,
} from './delivery-store.ts';
import { jobOf, messageOf } from './publisher.ts';
import { findEndpoint } from './store.ts';

export interface DeliveriesOptions extends Core {
  readonly outbox: Outbox;
}

export class Deliveries {
  readonly #options: DeliveriesOptions;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /**
   * The most recently begun first.
   * @throws DomainError `webhook_not_found`, `invalid_request` for an invalid cursor, or a total of another page than the first
   */
  async list(
    endpointId: string,
    { state, ...page }: { readonly state?: DeliveryState } & PageRequest,
  ): Promise<WebhookDeliveryPage> {
    const { db } = this.#options;
    const hasTotal = wantsTotal(page);
    const before = page.cursor === undefined ? newestDelivery : placeOf(page.cursor);
    if (!(await findEndpoint(db, endpointId))) throw new DomainError('webhook_not_found');
    const size = sizeOf(page.limit);
    const filter = { endpointId, state };
    const rows = await listDeliveries(db, filter, before, size + 1);
    const shown = rows.slice(0, size);
    const last = shown.at(-1);
    return {
      deliveries: shown.map(toDelivery),
      nextCursor: rows.length > size && last ? toCursor(`${last.startedAt} ${last.id}`) : null,
      ...(hasTotal && {
        total: await countInParts(db, before, (after, count) => countDeliveries(db, filter, after, count)),
      }),
    };
  }

  /** With the message as a replay sends it. @throws DomainError `webhook_not_found`, `webhook_delivery_not_found` */
  async find(endpointId: string, deliveryId: string): Promise<WebhookDeliveryDetails> {
    const { db } = this.#options;
    if (!(await findEndpoint(db, endpointId))) throw new DomainError('webhook_not_found');
    const found = await findDelivery(db, endpointId, deliveryId);
    if (!found) throw new DomainError('webhook_delivery_not_found');
    const message = found.event && messageOf(found.event, endpointId);
    // After a restore, another event can be at the place.
    return { delivery: toDelivery(found.delivery), payload: message?.id === deliveryId ? message.body : null };
  }

  /**
   * Queues the delivery again, unless it is queued.
   * @throws DomainError `webhook_not_found`, `webhook_disabled`, `webhook_delivery_not_found`, `webhook_event_missing`,
   *   `invalid_access_token` when the session has ended meanwhile
   */
  async replay(principal: Principal, endpointId: string, deliveryId: string): Promise<void> {
    const { db, outbox } = this.#options;
    await replayDelivery(db, this.#request(principal, endpointId), deliveryId);
    outbox.pollSoon();
  }

  /**
   * Queues the deliveries again whose last attempt was at `since` or later and failed, at most
   * `limits.webhookReplaysMax`.
   * @param since RFC 3339
   * @throws DomainError `webhook_not_found`, `webhook_disabled`, `invalid_request`, `invalid_access_token`
   */
  async replayFailed(principal: Principal, endpointId: string, since: string): Promise<ReplayedDeliveries> {
    const { db, outbox } = this.#options;
    const from = toMs('since', since);
    const replayed = await replayFailed(db, this.#request(principal, endpointId), from, limits.webhookReplaysMax);
    outbox.pollSoon();
    return replayed;
  }

  #request(principal: Principal, endpointId: string): ReplayRequest {
    const { clock, outbox } = this.#options;
    const makeJob: ReplayRequest['makeJob'] = (event, deliveryId) => {
      const job = jobOf(outbox, event, endpointId);
      // After a restore, another event can be at the place.
      return job?.id === deliveryId ? job : undefined;
    };
    return { principal, endpointId, now: clock.now(), makeJob };
  }
}

const toDelivery = ({
  id,
  type,
  accountId,
  eventAt,
  state,
  nextAttemptAt,
  ...tried
}: DeliveryRow): WebhookDelivery => ({
  id,
  event: type as WebhookEvent,
  accountId,
  at: toInstant(eventAt),
  state,
  nextAttemptAt: nextAttemptAt === null ? null : toInstant(nextAttemptAt),
  attemptCount: tried.attemptCount,
  attempts: (JSON.parse(tried.attempts) as StoredAttempt[]).map(([at, status, ms, error]) => ({
    at: toInstant(at),
    status,
    ms,
    error,
  })),
});

/** @throws DomainError `invalid_request` */
function placeOf(cursor: string): DeliveryPlace {
  const [startedAt = '', id = ''] = fromCursor(cursor, (text) => /^\d{1,15} msg_[0-9A-Za-z]{1,60}$/.test(text)).split(
    ' ',
  );
  return { startedAt: Number(startedAt), id };
}
