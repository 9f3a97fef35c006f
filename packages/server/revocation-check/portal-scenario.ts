/**
 * Ends portal sessions while their key pages send requests: one session, its management key, its service account, or the account of the
 * backend. No request that starts after the response may be accepted.
 */
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { randomNumberId } from '../src/foundation/number-id.ts';
import { AccountSession } from './account-session.ts';
import type { CanaryTenant } from './canaries.ts';
import { newKeyConditions } from './changing-condition.ts';
import type { Asked } from './condition.ts';
import type { ChangeOutcome } from './history.ts';
import type { HttpRequest, HttpResponse, Instance } from './instance.ts';
import { pauseMs } from './key-deletion.ts';
import { pick } from './prober.ts';
import { ProbeLoops } from './probe-loops.ts';
import { inRandomRounds, randomInt } from './random.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import { SecretRecord } from './secret-record.ts';

const sessionsPerTenant = 2;
/** All others end every session of the tenant. */
const endings = ['by the backend', 'by the page', 'key', 'service account', 'account'] as const;
type Ending = (typeof endings)[number];

interface PortalSession {
  /** The checker knows it as a key with this number, which no key has. */
  readonly number: number;
  readonly id: string;
  readonly authorization: string;
  readonly record: SecretRecord;
  readonly asked: Asked;
}

/** Creates backends with a service account one after the other. Each gets portal sessions, which then end. */
export async function runPortalScenario(options: ScenarioOptions): Promise<void> {
  const nextEnding = inRandomRounds(endings);
  while (!options.isOver()) {
    try {
      const tenant = await options.canaries.newTenant();
      await new PortalRound(tenant, options).run(nextEnding.next().value);
      await options.canaries.removeTenant(tenant.externalId);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      await setTimeout(pauseMs);
    }
  }
}

class PortalRound {
  readonly #tenant: CanaryTenant;
  readonly #owner: AccountSession;
  readonly #options: ScenarioOptions;
  readonly #sessions: PortalSession[] = [];
  #keys = 0;

  constructor(tenant: CanaryTenant, options: ScenarioOptions) {
    this.#tenant = tenant;
    this.#owner = new AccountSession(tenant.account);
    this.#options = options;
  }

  /** A short run has one end, too. */
  async run(ending: Ending): Promise<void> {
    const { loops, probesMax } = this.#options;
    for (let left = sessionsPerTenant; left > 0; left--) await this.#open();
    if (this.#sessions.length === 0) {
      await setTimeout(pauseMs);
      return;
    }
    const probes = new ProbeLoops(loops, () => this.#probe(pick(this.#sessions), pick(this.#options.instances)));
    try {
      await probes.more(1 + randomInt(probesMax));
      const before = this.#probeEverywhere();
      await this.#end(ending);
      await Promise.all([before, this.#probeEverywhere()]);
      await probes.more(1 + randomInt(probesMax));
    } finally {
      await probes.stop();
    }
  }

  /** At any instances, as a backend and a key page do. */
  async #open(): Promise<void> {
    const { checker, instances } = this.#options;
    const { account, externalId } = this.#tenant;
    const capabilities = ['read', 'create'];
    const body = { externalId, capabilities, returnUrl: 'https://canary.invalid/' };
    const created = await this.#asBackend(pick(instances), 'POST', '/auth/portal-sessions', body);
    if (created?.status !== 201) return;
    const { id, url } = JSON.parse(created.text) as { id: string; url: string };
    const { hash, origin } = new URL(url);
    const headers = { origin, 'content-type': 'application/json' };
    const token = JSON.stringify({ id, token: hash.slice(1) });
    const redeemed = await send(pick(instances), {
      method: 'POST',
      path: '/auth/portal/session',
      headers,
      body: token,
    });
    if (redeemed?.status !== 201) return;
    const { secret } = JSON.parse(redeemed.text) as { secret: string };
    const number = randomNumberId();
    const record = new SecretRecord(`portal session ${id}`);
    const { enabled, unexpired, anywhere } = newKeyConditions(number);
    const asked: Asked = { secret: record, enabled, unexpired, address: anywhere, scope: undefined };
    checker.addKey(number, account.id, monotonicMs());
    this.#sessions.push({ number, id, authorization: `Bearer ${secret}`, record, asked });
  }

  async #probeEverywhere(): Promise<void> {
    const { instances } = this.#options;
    const probes = this.#sessions.flatMap((session) =>
      instances.flatMap((instance) => [this.#probe(session, instance), this.#create(session, instance)]),
    );
    await Promise.all(probes);
  }

  async #probe({ number, authorization, asked }: PortalSession, instance: Instance): Promise<void> {
    const path = pick(['/auth/portal/session', '/auth/portal/api-keys']);
    const startedAt = monotonicMs();
    const response = await send(instance, { method: 'GET', path, headers: { authorization } });
    const observed = { result: resultOf(response), source: `GET ${path} at ${instance.url}` };
    this.#options.checker.verified(number, { ...observed, startedAt, endedAt: monotonicMs() }, asked);
    if (observed.result === 'unknown') await setTimeout(pauseMs);
    else instance.verifications++;
  }

  /** The transaction of a creation decides again. It counts as no verification, because the limit of creations may reject it. */
  async #create({ number, authorization, asked }: PortalSession, instance: Instance): Promise<void> {
    const path = '/auth/portal/api-keys';
    const headers = { authorization, 'content-type': 'application/json' };
    const body = JSON.stringify({ nickname: `canary ${++this.#keys}` });
    const startedAt = monotonicMs();
    const response = await send(instance, { method: 'POST', path, headers, body });
    const observed = { result: resultOf(response), source: `POST ${path} at ${instance.url}` };
    this.#options.checker.exchanged(number, { ...observed, startedAt, endedAt: monotonicMs() }, asked);
  }

  /** Repeats the end until its outcome is known, or the run ends. */
  async #end(ending: Ending): Promise<void> {
    const { checker, isOver } = this.#options;
    const [first] = this.#sessions;
    if (!first) return;
    const ended = ending === 'by the backend' || ending === 'by the page' ? [first] : this.#sessions;
    const effects = ended.map(({ record: condition }) => ({ condition, to: 'unmet' }) as const);
    for (let isRepeated = false; ; isRepeated = true) {
      const instance = pick(this.#options.instances);
      const source = `end of portal sessions (${ending}) at ${instance.url}`;
      if (ending === 'key' && !(await this.#owner.ensureSignedIn(instance))) return;
      const change = checker.beginKeyChange('portalSessionEnded', effects, source, monotonicMs());
      const outcome = await this.#requestEnd(ending, first, instance, isRepeated);
      checker.endKeyChange(change, outcome, monotonicMs());
      if (outcome !== 'unknown' || isOver()) return;
      await setTimeout(pauseMs);
    }
  }

  /** @param isRepeated whether an earlier request may have had the effect: then its object does not exist */
  async #requestEnd(
    ending: Ending,
    { id, authorization }: PortalSession,
    instance: Instance,
    isRepeated: boolean,
  ): Promise<ChangeOutcome> {
    const { account, key, serviceAccountId } = this.#tenant;
    if (ending === 'account')
      return this.#options.canaries.change(account.id, 'disabled').then(
        () => 'changed',
        () => 'unknown',
      );
    const requests: Readonly<Record<Exclude<Ending, 'account'>, () => Promise<HttpResponse | undefined>>> = {
      'by the backend': () => this.#asBackend(instance, 'DELETE', `/auth/portal-sessions/${id}`),
      'by the page': () =>
        send(instance, { method: 'DELETE', path: '/auth/portal/session', headers: { authorization } }),
      key: () => this.#owner.send(instance, 'DELETE', `/auth/api-keys/${key.id}`),
      'service account': () => this.#asBackend(instance, 'DELETE', `/auth/service-accounts/${serviceAccountId}`),
    };
    const response = await requests[ending]();
    if (response && response.status < 300) return 'changed';
    if (!response || response.status >= 500) return 'unknown';
    return isRepeated && [401, 404].includes(response.status) ? 'changed' : 'rejected';
  }

  #asBackend(
    instance: Instance,
    method: HttpRequest['method'],
    path: string,
    body?: object,
  ): Promise<HttpResponse | undefined> {
    const headers = { authorization: `Bearer ${this.#tenant.key.secret}` };
    if (body === undefined) return send(instance, { method, path, headers });
    const json = { ...headers, 'content-type': 'application/json' };
    return send(instance, { method, path, headers: json, body: JSON.stringify(body) });
  }
}

/** @returns undefined without a response */
const send = (instance: Instance, request: HttpRequest): Promise<HttpResponse | undefined> =>
  instance.send(request).catch(() => undefined);

function resultOf(response: HttpResponse | undefined): 'accepted' | 'rejected' | 'unknown' {
  if (response?.status === 200 || response?.status === 201) return 'accepted';
  if (response?.status !== 401) return 'unknown';
  return response.text.includes('"portal_session_ended"') ? 'rejected' : 'unknown';
}
