/** Delivers events to endpoints: signs each attempt, and decides for each failure whether it pauses the queue. */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { monotonicMs } from '../../foundation/clock.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import { Secret } from '../../foundation/crypto/secret.ts';
import type { AddressGuard } from '../../foundation/outgoing/address-guard.ts';
import { failureOf, post } from '../../foundation/outgoing/guarded-request.ts';
import { JobFailure, type Job } from '../outbox/job.ts';
import type { DeliveryLog } from './delivery-log.ts';
import type { StoredAttempt } from './delivery-store.ts';
import type { WebhookJob } from './publisher.ts';
import { signedHeaders } from './signature.ts';
import { disableGoneEndpoint, findEndpoint, recordDelivery, recordFailure, type EndpointRow } from './store.ts';

export interface SenderOptions extends Core {
  readonly seal: Sealer;
  readonly guard: AddressGuard;
  readonly log: DeliveryLog;
}

/** The secret of an endpoint, as it is sealed in the database. */
export interface StoredSecret {
  readonly current: string;
  /** Deliveries are signed with it too, until this time. */
  readonly previous?: { readonly secret: string; readonly until: number };
}

/** The result of an attempt. */
export interface Attempt {
  /** Null without a response. */
  readonly status: number | null;
  /** Null after a success. Contains no IP address and nothing from the response. */
  readonly failure: string | null;
  /** Whether the rest of its queue would fail too. */
  readonly isBlocked: boolean;
}

/** Successful deliveries are recorded at most this often, except the first one after a failure. */
const recordEveryMs = 60_000;
/** RFC 9110 section 15.5.11, and the Standard Webhooks specification: the receiver wants no more deliveries. */
const gone = 410;
/** The receiver, or a proxy in front of it, is overloaded. */
const busy: readonly number[] = [429, 502, 503, 504];

export class Sender {
  /** Attempts by result. */
  readonly counts = { delivered: 0, failed: 0, refused: 0 };
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** The handler of the outbox. @throws JobFailure */
  readonly deliver = async ({ id, payload }: Pick<Job, 'id' | 'payload'>): Promise<void> => {
    const { db, clock } = this.#options;
    const job = payload as WebhookJob;
    const { endpointId, body } = job;
    const endpoint = await findEndpoint(db, endpointId);
    // Deleted or disabled since the event.
    if (!endpoint || endpoint.disabledAt !== null) return;
    const [startedAt, startedMs] = [clock.now(), monotonicMs()];
    const { status, failure, isBlocked } = await this.attempt(endpoint, id, body);
    const now = clock.now();
    this.#record(id, job, [startedAt, status, Math.round(monotonicMs() - startedMs), failure]);
    if (failure === null) {
      const { lastDeliveredAt, failingSince } = endpoint;
      if (failingSince !== null || now - (lastDeliveredAt ?? 0) >= recordEveryMs)
        await recordDelivery(db, endpoint, now);
      return;
    }
    await recordFailure(db, endpoint, now, failure);
    if (status === gone && (await disableGoneEndpoint(db, endpoint, now, failure))) return;
    throw new JobFailure(failure, isBlocked ? 'queue' : 'job');
  };

  #record(id: string, { endpointId, body, chain, position }: WebhookJob, attempt: StoredAttempt): void {
    const { type, timestamp } = JSON.parse(body) as { type: string; timestamp: string };
    const eventAt = Date.parse(timestamp);
    this.#options.log.record({ id, endpointId, type, eventAt, chain, position }, attempt);
  }

  /** Sends one request. Failures of the endpoint are part of the result. */
  async attempt(endpoint: Pick<EndpointRow, 'id' | 'url' | 'secret'>, id: string, body: string): Promise<Attempt> {
    const { clock, seal, guard } = this.#options;
    const now = clock.now();
    const stored = JSON.parse(seal.open(endpoint.id, endpoint.secret)) as StoredSecret;
    const headers = signedHeaders(id, now, body, validSecrets(stored, now));
    const result = await post(guard, { url: new URL(endpoint.url), headers, body }).catch(failureOf);
    if (typeof result === 'number' && result >= 200 && result < 300) {
      this.counts.delivered++;
      return { status: result, failure: null, isBlocked: false };
    }
    if (typeof result === 'number') {
      this.counts.failed++;
      return { status: result, failure: `it answered ${result}`, isBlocked: busy.includes(result) };
    }
    this.counts[result.isRefused ? 'refused' : 'failed']++;
    return { status: null, failure: result.text, isBlocked: true };
  }
}

function validSecrets({ current, previous }: StoredSecret, now: number): readonly Secret[] {
  const isOverlapping = previous !== undefined && now < previous.until;
  return [current, ...(isOverlapping ? [previous.secret] : [])].map((text) => new Secret(text));
}

/** Makes `secret` the current one, and keeps the former current one for an overlap. */
export const rotateSecret = (stored: StoredSecret, secret: Secret, now: number): StoredSecret => ({
  current: secret.reveal(),
  previous: { secret: stored.current, until: now + limits.webhookSecretOverlapSeconds * 1_000 },
});
