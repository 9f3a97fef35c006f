/** Sends what is to be told: signs each attempt, and says of each failure what it means for the rest. */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import { Secret } from '../../foundation/crypto/secret.ts';
import type { Db } from '../../foundation/database/db.ts';
import { JobFailure, type Job } from '../outbox/outbox.ts';
import { RefusedTarget, type AddressGuard } from './address-guard.ts';
import type { WebhookWork } from './publisher.ts';
import { post, TimedOut } from './post.ts';
import { signedHeaders } from './signature.ts';
import { disableEndpoint, findEndpoint, noteDelivery, noteFailure, type EndpointRow } from './store.ts';

export interface SenderOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly seal: Sealer;
  readonly guard: AddressGuard;
}

/** The secret of an endpoint as it is sealed. */
export interface StoredSecret {
  readonly current: string;
  /** Signs as well until then. */
  readonly previous?: { readonly secret: string; readonly until: number };
}

/** How an attempt went. */
export interface Attempt {
  /** Null when nobody answered. */
  readonly status: number | null;
  /** Null when it succeeded. Names no address and quotes nobody. */
  readonly failure: string | null;
  /** Whether the rest of its queue would fail too. */
  readonly isBlocked: boolean;
}

/** A delivery that went well is noted no more often, but for the first after a failure. */
const noteEveryMs = 60_000;
/** RFC 9110 section 15.5.11, and the specification: it wants no more. */
const gone = 410;
/** Somebody before the receiver, or the receiver itself, can't take more now. */
const busy: readonly number[] = [429, 502, 503, 504];

export class Sender {
  /** Attempts by result. */
  readonly counts = { delivered: 0, failed: 0, refused: 0 };
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** The outbox's handler. @throws JobFailure */
  readonly deliver = async ({ id, payload }: Pick<Job, 'id' | 'payload'>): Promise<void> => {
    const { db, clock } = this.#options;
    const { endpointId, body } = payload as WebhookWork;
    const endpoint = await findEndpoint(db, endpointId);
    // Deleted or disabled since: there is nobody to tell.
    if (!endpoint || endpoint.disabledAt !== null) return;
    const { status, failure, isBlocked } = await this.attempt(endpoint, id, body);
    const now = clock.now();
    if (failure === null) {
      const { lastDeliveredAt, lastFailedAt } = endpoint;
      const isRecovered = (lastFailedAt ?? 0) >= (lastDeliveredAt ?? 0);
      if (isRecovered || now - (lastDeliveredAt ?? 0) >= noteEveryMs) await noteDelivery(db, endpointId, now);
      return;
    }
    await noteFailure(db, endpointId, now, failure);
    if (status === gone) return disableEndpoint(db, { kind: 'system' }, endpointId, now, failure);
    throw new JobFailure(failure, isBlocked ? 'queue' : 'job');
  };

  /** One request. Never throws for what the endpoint does. */
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

/** A new secret beside the one that was current. */
export const succeed = (stored: StoredSecret, secret: Secret, now: number): StoredSecret => ({
  current: secret.reveal(),
  previous: { secret: stored.current, until: now + limits.webhookSecretOverlapSeconds * 1_000 },
});

function failureOf(error: unknown): { readonly text: string; readonly isRefused: boolean } {
  if (error instanceof RefusedTarget || error instanceof TimedOut)
    return { text: error.message, isRefused: error instanceof RefusedTarget };
  // Its code alone: the message may name addresses.
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return { text: `the connection failed: ${code}`, isRefused: false };
}
