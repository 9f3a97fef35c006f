/**
 * What a revocation check from outside does with its credential: creates, lists and deletes canary keys, and reads the
 * versions of the instances.
 */
import { monotonicMs } from '../src/foundation/clock.ts';
import type { KeySession } from './account-session.ts';
import type { CanaryKey } from './canaries.ts';
import type { Checker } from './checker.ts';
import type { HttpRequest, HttpResponse, Instance } from './instance.ts';
import type { DeletableKeys } from './key-source.ts';
import { pick, type Prober } from './prober.ts';

/** A response of `GET /auth/canary-keys`. */
export interface Description {
  readonly apiKeys: readonly { readonly id: number; readonly createdAt: string }[];
  readonly credential: { readonly keyId: number; readonly accountId: string; readonly expiresAt: string };
  readonly instance: ProcessDescription & { readonly now: string };
}

/** A process that answers for an instance: behind a load balancer, there are several. */
export interface ProcessDescription {
  readonly id: string;
  readonly version: string;
  readonly node: string;
  readonly database: string;
}

/** A key is used until this long before it expires: the clocks of the instances differ. */
const marginMs = 60_000;
const keysPath = '/auth/canary-keys';

export class CanarySession implements KeySession {
  account = { id: '' };
  readonly keysPath = keysPath;
  /** An instance has rejected the credential. */
  isRejected = false;
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  async ensureSignedIn(): Promise<boolean> {
    return !this.isRejected;
  }

  async send(instance: Instance, method: HttpRequest['method'], path: string): Promise<HttpResponse | undefined> {
    const response = await this.request(instance, method, path).catch(() => undefined);
    if (response?.status === 401) this.isRejected = true;
    return response;
  }

  /** @throws Error without a complete response */
  request(instance: Instance, method: HttpRequest['method'], path: string): Promise<HttpResponse> {
    return instance.send({ method, path, headers: { authorization: `Bearer ${this.#secret}` } });
  }
}

/** @throws Error for another body */
export function readDescription(text: string): Description {
  const { apiKeys, credential, instance } = JSON.parse(text) as Partial<Description>;
  const isComplete =
    Array.isArray(apiKeys) && Number.isFinite(Date.parse(`${credential?.expiresAt}`)) && instance?.id !== undefined;
  if (!isComplete || !credential) throw new Error('the body is no list of canary keys');
  return { apiKeys, credential, instance };
}

export interface CanaryKeySourceOptions {
  readonly instances: readonly Instance[];
  readonly checker: Checker;
  readonly prober: Prober;
  /** Called with what each list shows. */
  readonly onDescribed: (instance: Instance, description: Description) => void;
}

export class CanaryKeySource implements DeletableKeys {
  readonly session: CanarySession;
  /** The credential has reached its limit of new keys in an hour. */
  isExhausted = false;
  readonly #options: CanaryKeySourceOptions;

  constructor(session: CanarySession, options: CanaryKeySourceOptions) {
    this.session = session;
    this.#options = options;
  }

  async newKey(): Promise<CanaryKey | undefined> {
    const { checker, prober, instances } = this.#options;
    const response = await this.session.send(pick(instances), 'POST', keysPath);
    if (response?.status === 429 && codeOf(response) === 'too_many_creations') this.isExhausted = true;
    if (response?.status === 409) await this.#deleteUnknownKeys();
    const created = response?.status === 201 ? readCreated(response.text) : undefined;
    if (!created) return undefined;
    const now = monotonicMs();
    const { id, key: secret, createdAt, expiresAt } = created;
    const usableUntilMs = now + Date.parse(expiresAt) - Date.parse(createdAt) - marginMs;
    const accountId = this.session.account.id;
    const canary: CanaryKey = { id, secret, accountId, kind: 'created', isElsewhere: true, usableUntilMs };
    checker.addKey(id, accountId, now, 'created');
    prober.live.add(canary);
    return canary;
  }

  async list(instance: Instance): Promise<readonly number[] | undefined> {
    return (await this.#describe(instance))?.apiKeys.map(({ id }) => id);
  }

  /** @returns the ids of the keys that could not be deleted; they expire */
  async deleteAll(): Promise<readonly number[]> {
    const left = new Set<number>();
    for (const instance of this.#options.instances) {
      const ids = await this.list(instance);
      if (!ids) continue;
      left.clear();
      for (const id of ids) {
        const response = await this.session.send(instance, 'DELETE', `${keysPath}/${id}`);
        if (response?.status !== 200 && response?.status !== 404) left.add(id);
      }
      if (left.size === 0) return [];
    }
    return [...left];
  }

  /** Keys whose creation got no response count towards the limit of keys. Those of creations in progress are younger. */
  async #deleteUnknownKeys(): Promise<void> {
    const { checker, instances } = this.#options;
    const instance = pick(instances);
    const description = await this.#describe(instance);
    if (!description) return;
    const createdBefore = Date.parse(description.instance.now) - marginMs;
    for (const { id, createdAt } of description.apiKeys)
      if (!checker.hasKey(id) && Date.parse(createdAt) < createdBefore)
        await this.session.send(instance, 'DELETE', `${keysPath}/${id}`);
  }

  async #describe(instance: Instance): Promise<Description | undefined> {
    const response = await this.session.send(instance, 'GET', keysPath);
    if (response?.status !== 200) return undefined;
    try {
      const description = readDescription(response.text);
      this.#options.onDescribed(instance, description);
      return description;
    } catch {
      // As a response that violates the contract.
      return undefined;
    }
  }
}

/** @returns undefined for a body that is no problem document */
export function codeOf({ text }: HttpResponse): string | undefined {
  try {
    return (JSON.parse(text) as { code?: string }).code;
  } catch {
    return undefined;
  }
}

interface Created {
  readonly id: number;
  readonly key: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

function readCreated(text: string): Created | undefined {
  try {
    const created = JSON.parse(text) as Partial<Created>;
    const isComplete = Object.values({ id: 0, key: '', createdAt: '', expiresAt: '', ...created }).every(Boolean);
    return isComplete ? (created as Created) : undefined;
  } catch {
    return undefined;
  }
}
