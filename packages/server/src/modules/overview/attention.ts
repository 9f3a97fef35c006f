/** What needs the attention of administrators: failing jobs and webhooks, missing processes, and findings of checks. */
import type { Overview } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { dayMs, toInstant } from '../../foundation/clock.ts';
import { jobLateMs, type Outbox } from '../outbox/outbox.ts';
import { listFailingJobs } from '../outbox/store.ts';
import { signingKeyAgeDaysMax, type SigningKeys } from '../signing-keys/signing-keys.ts';
import type { Endpoints } from '../webhooks/endpoints.ts';
import { minuteMs } from './minutes.ts';
import type { InstanceRow } from './store.ts';

/** A check that did not succeed. */
export interface Finding {
  readonly name: string;
  readonly state: 'warning' | 'failed';
  readonly detail: string;
}

export interface AttentionOptions extends Core {
  readonly outbox: Pick<Outbox, 'waiting'>;
  readonly endpoints: Pick<Endpoints, 'list'>;
  readonly signingKeys: Pick<SigningKeys, 'list'>;
  /** Checks of the installation that have no code of their own here. */
  readonly findings: () => Promise<readonly Finding[]>;
}

type Item = Overview['attention'][number];

/** A process writes each minute; it may miss one. */
const unseenMs = 3 * minuteMs;

export const isRunning = ({ seenAt }: InstanceRow, now: number): boolean => now - seenAt <= unseenMs;

/** Whether the clock of the process, or of this one, is wrong. The process counts as running until that time. */
const isAhead = ({ seenAt }: InstanceRow, now: number): boolean => seenAt - now > unseenMs;

/**
 * The processes that may still run.
 * @param ended ids of processes that have ended, according to the operator. An id has an effect only if the last time of its
 *   process is in the future: any other time shows by itself whether the process has ended
 */
export const listRunning = (instances: readonly InstanceRow[], now: number, ended: readonly string[]): InstanceRow[] =>
  instances.filter((row) => isRunning(row, now) && !(isAhead(row, now) && ended.includes(row.id)));

/** The last part of an error message, after a subject and without a full stop. @param running processes that prevent a command */
export const describeKilled = (running: readonly InstanceRow[], now: number): string =>
  `that was killed counts as running for 3 minutes${running.some((row) => isAhead(row, now)) ? `, and longer if its last time is in the future, as here: check the clocks of the machines (the time here is ${toInstant(now)}). If it has ended, add --ended-instance with its id` : ''}`;

/** Checks read settings and files, and every open overview asks every few seconds. */
const findingsKeptMs = minuteMs;

export class Attention {
  readonly #options: AttentionOptions;
  #findings: { readonly at: number; readonly found: Promise<readonly Finding[]> } | undefined;

  constructor(options: AttentionOptions) {
    this.#options = options;
  }

  /** The most urgent first. @throws DomainError `unavailable` */
  async list(instances: readonly InstanceRow[]): Promise<Item[]> {
    const findings = await this.#readFindings();
    return [
      ...findings.filter(({ state }) => state === 'failed').map(itemOf),
      ...missingOf(instances, this.#options.clock.now()).map(({ id, seenAt }) =>
        itemAt('instance_missing', seenAt, { subject: id }),
      ),
      ...(await this.#jobs()),
      ...(await this.#webhooks()),
      ...(await this.#signingKeys()),
      ...findings.filter(({ state }) => state === 'warning').map(itemOf),
    ];
  }

  /** A webhook that fails has an item of its own. */
  async #jobs(): Promise<Item[]> {
    const { db, clock, outbox } = this.#options;
    const failing = (await listFailingJobs(db)).filter(({ kind }) => kind !== 'webhook');
    const failingKinds = new Set(failing.map(({ kind }) => kind));
    const late = (await outbox.waiting()).filter(
      ({ kind, oldestMs }) => oldestMs > jobLateMs && kind !== 'webhook' && !failingKinds.has(kind),
    );
    return [
      ...failing.map(({ kind, count, since }) => itemAt('jobs_failing', since, { subject: kind, count })),
      ...late.map(({ kind, count, oldestMs }) => itemAt('jobs_late', clock.now() - oldestMs, { subject: kind, count })),
    ];
  }

  async #webhooks(): Promise<Item[]> {
    return (await this.#options.endpoints.list()).flatMap(({ id, url, disabledAt, failingSince, lastFailure }) =>
      disabledAt === null && failingSince !== null
        ? [
            itemAt('webhook_failing', failingSince, {
              subject: id,
              detail: lastFailure === null ? url : `${url}: ${lastFailure}`,
            }),
          ]
        : [],
    );
  }

  async #signingKeys(): Promise<Item[]> {
    const { clock, signingKeys } = this.#options;
    return (await signingKeys.list())
      .filter(
        ({ state, activatesAt }) => state === 'active' && clock.now() - activatesAt > signingKeyAgeDaysMax * dayMs,
      )
      .map(({ kid, activatesAt }) => itemAt('signing_key_old', activatesAt, { subject: kid }));
  }

  /** Requests of the same minute share one run of the checks. A failed run is repeated. */
  #readFindings(): Promise<readonly Finding[]> {
    const { clock, findings } = this.#options;
    const now = clock.now();
    const known = this.#findings;
    if (known && now >= known.at && now - known.at < findingsKeptMs) return known.found;
    const run = { at: now, found: findings() };
    this.#findings = run;
    run.found.catch(() => {
      if (this.#findings === run) this.#findings = undefined;
    });
    return run.found;
  }
}

/**
 * Processes that ended without removing their row, and that no later process has replaced. So a restart after a crash
 * needs no attention for the two days that the row is kept.
 */
export function missingOf(instances: readonly InstanceRow[], now: number): InstanceRow[] {
  const replacements = instances
    .filter((instance) => isRunning(instance, now))
    .map(({ startedAt }) => startedAt)
    .toSorted((a, b) => a - b);
  return instances
    .filter((instance) => !isRunning(instance, now))
    .toSorted((a, b) => b.seenAt - a.seenAt)
    .filter(({ seenAt }) => {
      const place = replacements.findIndex((startedAt) => startedAt >= seenAt);
      if (place >= 0) replacements.splice(place, 1);
      return place < 0;
    });
}

const itemOf = ({ name, state, detail }: Finding): Item => ({
  code: state === 'failed' ? 'check_failed' : 'check_warning',
  since: null,
  subject: name,
  count: null,
  detail,
});

const itemAt = (
  code: Item['code'],
  since: number,
  { subject, count = null, detail = null }: Pick<Item, 'subject'> & Partial<Item>,
): Item => ({ code, since: toInstant(since), subject, count, detail });
