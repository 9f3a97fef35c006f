/**
 * Follows the audit trail: what was committed there is put into the outbox for every endpoint that is to be told. So an
 * event is told if and only if its change was committed, and the change itself never waits for anything here.
 *
 * First the events are read, then the endpoints: an endpoint that was there when an event happened is among them.
 */
import { createHash } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { toBase62 } from '../../foundation/crypto/secret.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { NewJobRow } from '../outbox/store.ts';
import { describe, type LoggedEvent } from './events.ts';
import {
  listEnabledEndpoints,
  listUntold,
  queueOf,
  takeSteps,
  type EndpointRow,
  type Step,
  type UntoldEvent,
} from './store.ts';

export interface PublisherOptions {
  readonly db: Db;
  readonly outbox: Outbox;
  readonly onFailure?: (error: unknown) => void;
}

/** What stands in the outbox. */
export interface WebhookWork {
  readonly endpointId: string;
  /** JSON; signed and sent as it is. */
  readonly body: string;
}

const lookEveryMs = 1_000;

export class Publisher {
  readonly #options: PublisherOptions;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** Told once, not every second. */
  #isFailing = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Until `stop`. */
  start(): void {
    this.#timer = setInterval(() => this.pollSoon(), lookEveryMs).unref();
    this.pollSoon();
  }

  /** Nobody waits for the next look. */
  pollSoon(): void {
    if (this.#timer === undefined || this.#looking) return;
    this.#looking = this.#lookOn().finally(() => (this.#looking = undefined));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  async #lookOn(): Promise<void> {
    try {
      while (this.#timer !== undefined && (await this.look()));
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onFailure?.(error);
      this.#isFailing = true;
    }
  }

  /** @returns whether there may be more */
  async look(): Promise<boolean> {
    const { db, outbox } = this.#options;
    const events = await listUntold(db, limits.webhookEventsPerLookMax);
    if (events.length === 0) return false;
    const endpoints = await listEnabledEndpoints(db);
    const byChain = Map.groupBy(events, ({ chain }) => chain);
    const steps = [...byChain.values()].flatMap((news) => this.#step(news, endpoints));
    await takeSteps(db, steps);
    if (steps.some(({ work }) => work.length > 0)) outbox.pollSoon();
    return [...byChain.values()].some((news) => news.length === limits.webhookEventsPerLookMax);
  }

  #step(events: readonly UntoldEvent[], endpoints: readonly Subscriber[]): Step[] {
    const [first, last] = [events.at(0), events.at(-1)];
    if (!first || !last) return [];
    const work = events.flatMap((event) => this.#deliveries(event, endpoints));
    return [{ chain: first.chain, from: first.toldUntil, to: last.position, mac: last.mac, work }];
  }

  #deliveries(event: LoggedEvent, endpoints: readonly Subscriber[]): NewJobRow[] {
    const described = describe(event);
    if (!described) return [];
    const { type, data } = described;
    return endpoints
      .filter(({ events }) => events.split(' ').includes(type))
      .map((endpoint) => {
        const id = idOf(event, endpoint.id);
        const body = bodyOf(id, type, event.at, data);
        const work: WebhookWork = { endpointId: endpoint.id, body };
        return this.#options.outbox.prepare('webhook', queueOf(endpoint.id), work, id);
      });
  }
}

type Subscriber = Pick<EndpointRow, 'id' | 'events'>;

/**
 * The same for an event and an endpoint, whoever makes it and however often: places of the trail are used again after a
 * restore, MACs aren't.
 */
const idOf = ({ mac }: LoggedEvent, endpointId: string): string =>
  `msg_${toBase62(createHash('sha256').update(mac).update(endpointId).digest().subarray(0, 16), 22)}`;

/** As the Standard Webhooks specification recommends: type, timestamp, data. */
export const bodyOf = (id: string, type: string, at: number, data: object): string =>
  JSON.stringify({ id, type, timestamp: toInstant(at), data });
