/**
 * Publishes audit events: reads committed events and inserts a job into the outbox for each subscribed endpoint. So an
 * event is published if and only if its change was committed, and the change does not wait for the publication.
 *
 * The events are read before the endpoints, so every endpoint that existed at an event is among them.
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
  listUnpublished,
  queueOf,
  publishSteps,
  type EndpointRow,
  type Step,
  type UnpublishedEvent,
} from './store.ts';

export interface PublisherOptions {
  readonly db: Db;
  readonly outbox: Outbox;
  readonly onFailure?: (error: unknown) => void;
}

/** The payload of a job. */
export interface WebhookJob {
  readonly endpointId: string;
  readonly body: Message['body'];
  /** Of the audit event. */
  readonly chain: number;
  readonly position: number;
}

const pollEveryMs = 1_000;

export class Publisher {
  readonly #options: PublisherOptions;
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  /** Failures are reported once, not every second. */
  #isFailing = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Runs until `stop`. */
  start(): void {
    this.#timer = setInterval(() => this.pollSoon(), pollEveryMs).unref();
    this.pollSoon();
  }

  /** Polls now instead of at the next interval. */
  pollSoon(): void {
    if (this.#timer === undefined || this.#polling) return;
    this.#polling = this.#pollAll().finally(() => (this.#polling = undefined));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#polling;
  }

  async #pollAll(): Promise<void> {
    try {
      while (this.#timer !== undefined && (await this.poll()));
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onFailure?.(error);
      this.#isFailing = true;
    }
  }

  /** @returns whether there may be more */
  async poll(): Promise<boolean> {
    const { db, outbox } = this.#options;
    const events = await listUnpublished(db, limits.webhookEventsPerLookMax);
    if (events.length === 0) return false;
    const endpoints = await listEnabledEndpoints(db);
    const byChain = Map.groupBy(events, ({ chain }) => chain);
    const steps = [...byChain.values()].flatMap((list) => this.#step(list, endpoints));
    await publishSteps(db, steps);
    if (steps.some(({ jobs }) => jobs.length > 0)) outbox.pollSoon();
    return [...byChain.values()].some((list) => list.length === limits.webhookEventsPerLookMax);
  }

  #step(events: readonly UnpublishedEvent[], endpoints: readonly Subscriber[]): Step[] {
    const [first, last] = [events.at(0), events.at(-1)];
    if (!first || !last) return [];
    const jobs = events.flatMap((event) => this.#deliveries(event, endpoints));
    return [{ chain: first.chain, from: first.publishedUntil, to: last.position, mac: last.mac, jobs }];
  }

  #deliveries(event: LoggedEvent, endpoints: readonly Subscriber[]): NewJobRow[] {
    const type = describe(event)?.type;
    if (type === undefined) return [];
    const subscribed = endpoints.filter(({ events }) => events.split(' ').includes(type));
    return subscribed.flatMap(({ id }) => jobOf(this.#options.outbox, event, id) ?? []);
  }
}

type Subscriber = Pick<EndpointRow, 'id' | 'events'>;

/**
 * Derives the same id for an event and an endpoint each time and on every instance. It uses the MAC, because positions
 * in the audit log are used again after a restore.
 */
const idOf = ({ mac }: LoggedEvent, endpointId: string): string =>
  `msg_${toBase62(createHash('sha256').update(mac).update(endpointId).digest().subarray(0, 16), 22)}`;

export interface Message {
  readonly id: string;
  /** JSON, signed and sent without changes. */
  readonly body: string;
}

/** The message of an event for an endpoint, the same each time. @returns undefined for an event that is not published */
export function messageOf(event: LoggedEvent, endpointId: string): Message | undefined {
  const described = describe(event);
  if (!described) return undefined;
  const id = idOf(event, endpointId);
  return { id, body: bodyOf(id, described.type, event.at, described.data) };
}

/** The job that delivers {@link messageOf} the event, with the id of the message. */
export function jobOf(outbox: Outbox, event: LoggedEvent, endpointId: string): NewJobRow | undefined {
  const message = messageOf(event, endpointId);
  if (!message) return undefined;
  const job: WebhookJob = { endpointId, body: message.body, chain: event.chain, position: event.position };
  return outbox.prepare('webhook', queueOf(endpointId), job, message.id);
}

/** The body that the Standard Webhooks specification recommends: type, timestamp, data. */
export const bodyOf = (id: string, type: string, at: number, data: object): string =>
  JSON.stringify({ id, type, timestamp: toInstant(at), data });
