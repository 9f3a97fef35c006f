/**
 * The workload of a revocation check. It verifies canary keys at every instance by every method while it deletes them through
 * one instance, changes others, and disables and enables accounts; the checker checks the recorded history. Instances and the database may
 * fail during the run: an operation without a response has an unknown outcome, and is repeated at another instance.
 */
import { setTimeout } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../src/foundation/clock.ts';
import { AccountSession } from './account-session.ts';
import { Prober } from './prober.ts';
import type { Canaries, CanaryAccount, CanaryKey } from './canaries.ts';
import { runDeclaredScopeScenario, runEntitlementScenario } from './catalogue-scenario.ts';
import { otherScope, scope } from './changed-key.ts';
import { Checker } from './checker.ts';
import { DeletionScenario } from './deletion-scenario.ts';
import { runDisablingScenario } from './disabling-scenario.ts';
import type { KeyKind } from './history.ts';
import { runIssuerScenario, runTrustScenario } from './issuer-scenario.ts';
import { Instance, messageOf } from './instance.ts';
import { KeySource } from './key-source.ts';
import { reportLeak } from './leak-report.ts';
import { runEndingScenario, runNarrowingScenario } from './narrowing-scenario.ts';
import { runProgramScenario } from './program-scenario.ts';
import { runPortalScenario } from './portal-scenario.ts';
import { runPublicKeyScenario } from './public-key-scenario.ts';
import type { Report } from './report.ts';
import { clientIpOfProbes } from './scenario-key.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import { describeRequest } from './verification-methods.ts';

export interface WorkloadOptions {
  /** Base URLs. */
  readonly instances: readonly string[];
  /** Base URLs of listeners that only verify. */
  readonly verificationUrls?: readonly string[];
  readonly canaries: Canaries;
  /** Verifications in progress at a time, approximately. */
  readonly concurrency: number;
  /** A request fails if its connection is idle for this time; 10 s by default. */
  readonly timeoutMs?: number;
  /** The maximum number of probes before and after each deletion; a lower number gives more deletions. 24 by default. */
  readonly probesMax?: number;
  /** Additional clients that only verify large batches. */
  readonly batchClients?: number;
  /** Those that only tests can have. */
  readonly scenarios?: readonly Scenario[];
}

export type Scenario = (options: ScenarioOptions) => Promise<void>;

export interface WorkloadRunOptions {
  /** Ends the run after the operations in progress. */
  readonly signal: AbortSignal;
  /** Ends the run after this number of acknowledged deletions. */
  readonly deletionsMax?: number;
  /** Called after each acknowledged deletion. */
  readonly onDeleted?: (deletions: number) => void;
}

/** Half of the keys of a deletion scenario are of a kind that no endpoint creates. */
const kinds: readonly KeyKind[] = ['created', 'caller', 'imported', 'created', 'created', 'caller'];
const timeoutMsDefault = 10_000;
/** With few verifications in progress. */
const changingScenarios: readonly Scenario[] = [
  runPublicKeyScenario,
  runTrustScenario,
  runIssuerScenario,
  runProgramScenario,
  runPortalScenario,
];
const loopsPerScenario = 4;
const narrowingLoops = 2;
/** Each change is verified everywhere as well. */
const narrowingProbesMax = 8;
const probesMaxDefault = 24;

export class Workload {
  readonly instances: readonly Instance[];
  readonly checker = new Checker();
  readonly #canaries: Canaries;
  /** Those of instances and of listeners that only verify. */
  readonly #verifying: readonly Instance[];
  readonly #prober: Prober;
  /** Of the account that owns the caller key. */
  readonly #session: AccountSession;
  readonly #caller: CanaryKey;
  readonly #deletionScenarios: number;
  readonly #probesMax: number;
  readonly #batchClients: number;
  readonly #moreScenarios: readonly Scenario[];
  #scenarios: readonly DeletionScenario[] = [];

  /** Creates an account and a caller key in the database, without requests to the instances. @throws DomainError */
  static async prepare(options: WorkloadOptions): Promise<Workload> {
    const { canaries } = options;
    const owner = await canaries.newAccount();
    return new Workload(options, owner, await canaries.newCallerKey(owner.id));
  }

  private constructor(options: WorkloadOptions, owner: CanaryAccount, caller: CanaryKey) {
    const { instances, verificationUrls = [], canaries, concurrency, timeoutMs = timeoutMsDefault } = options;
    this.#probesMax = options.probesMax ?? probesMaxDefault;
    this.#batchClients = options.batchClients ?? 0;
    this.#moreScenarios = options.scenarios ?? [];
    this.instances = instances.map((url) => new Instance(url, timeoutMs));
    this.#verifying = [...this.instances, ...verificationUrls.map((url) => new Instance(url, timeoutMs))];
    this.#canaries = canaries;
    this.#session = new AccountSession(owner);
    this.#caller = caller;
    this.#prober = new Prober(this.#verifying, this.checker, caller);
    this.checker.addKey(caller.id, caller.accountId, monotonicMs(), caller.kind);
    // The disabling scenario takes one share of the concurrency.
    this.#deletionScenarios = Math.max(1, Math.round(concurrency / loopsPerScenario) - 1);
  }

  /** Sends one request of each kind to each instance. @returns what prevents the check, for the operator; empty if nothing does */
  async findObstacles(): Promise<readonly string[]> {
    const found = await Promise.all(
      this.instances.map((instance) =>
        instance.send({ method: 'GET', path: '/health/ready', headers: {} }).then(
          ({ status }) =>
            status === 200
              ? this.#findRejection(instance)
              : `${instance.url} is not ready: /health/ready returns ${status}`,
          (error: unknown) => `${instance.url} cannot be reached: ${messageOf(error)}`,
        ),
      ),
    );
    const obstacles = found.filter((obstacle) => obstacle !== undefined);
    if (obstacles.length > 0) return obstacles;
    const rejections = await this.#findRejectedTokens();
    return rejections.length > 0 ? rejections : await this.#findRejectedImports();
  }

  /** Ends at the signal or after the last deletion. @throws DomainError if the canary accounts cannot be created */
  async run({ signal, deletionsMax = Infinity, onDeleted }: WorkloadRunOptions): Promise<void> {
    let hasFailed = false;
    const options: ScenarioOptions = {
      instances: this.instances,
      canaries: this.#canaries,
      checker: this.checker,
      prober: this.#prober,
      loops: loopsPerScenario,
      probesMax: this.#probesMax,
      isOver: () => hasFailed || signal.aborted || this.checker.deletions >= deletionsMax,
      ...(onDeleted ? { onDeleted } : {}),
    };
    await this.#findTrustingInstances();
    await this.#findReportedInstances();
    await this.#canaries.declareScopes([otherScope, scope]);
    const newSource = async (): Promise<KeySource> => new KeySource(await this.#canaries.newAccount(), options);
    const scenarios: DeletionScenario[] = [];
    while (scenarios.length < this.#deletionScenarios && !options.isOver()) {
      scenarios.push(new DeletionScenario(await newSource(), { ...options, newSource, kinds: this.#kinds }));
    }
    this.#scenarios = scenarios;
    const running = [
      ...scenarios.map((scenario) => scenario.run()),
      runDisablingScenario(options),
      // Few verifications in progress, so that deletions are verified as often as without these scenarios.
      runNarrowingScenario({ ...options, loops: narrowingLoops, probesMax: narrowingProbesMax }),
      runEndingScenario({ ...options, loops: 1, probesMax: narrowingProbesMax }),
      ...[...changingScenarios, ...this.#moreScenarios].map((run) =>
        run({ ...options, loops: 1, probesMax: narrowingProbesMax }),
      ),
      ...(this.#canaries.catalogue ? [runEntitlementScenario, runDeclaredScopeScenario] : []).map((run) =>
        run({ ...options, loops: 1, probesMax: narrowingProbesMax }),
      ),
      this.#verifyBatches(options.isOver),
    ];
    // All must end before the canaries are removed, even if one fails.
    await Promise.allSettled(running.map((one) => one.catch(() => (hasFailed = true))));
    await Promise.all(running);
  }

  /**
   * Compares lists and the audit log with the history. Called once, after the run.
   * @param retried repeats a read that fails @throws DomainError if the audit log cannot be read
   */
  async finish(retried: (read: () => Promise<void>) => Promise<void> = (read) => read()): Promise<Report> {
    for (const scenario of this.#scenarios) {
      for (const source of scenario.sources) {
        await Promise.all(this.instances.map((instance) => scenario.list(source, instance)));
        const { id } = source.session.account;
        await retried(async () => {
          const startedAt = monotonicMs();
          const recorded = await this.#canaries.deletionsRecorded(id);
          this.checker.auditRead(id, { startedAt, endedAt: monotonicMs() }, recorded);
        });
      }
    }
    return this.checker.finish();
  }

  close(): void {
    for (const instance of this.#verifying) instance.close();
  }

  get #kinds(): readonly KeyKind[] {
    return this.#canaries.importsKeys ? kinds : kinds.map((kind) => (kind === 'imported' ? 'created' : kind));
  }

  async #verifyBatches(isOver: () => boolean): Promise<void> {
    const running = Array.from({ length: this.#batchClients }, async () => {
      while (!isOver()) await this.#prober.probeBatch();
    });
    await Promise.all(running);
  }

  /** An instance that uses another database rejects the caller key. */
  async #findRejection(instance: Instance): Promise<string | undefined> {
    for (const { method, instance: target } of this.#prober.targets) {
      if (target !== instance) continue;
      const request = method.request([this.#caller], this.#caller);
      const name = describeRequest(method, request);
      try {
        const response = await instance.send(request);
        if (method.read(response, [this.#caller])[0] === 'accepted') continue;
        return `${instance.url} rejects a new key (${name} returns ${response.status}): does it use the database of this configuration?`;
      } catch (error) {
        return `${instance.url} cannot verify a key (${name}): ${messageOf(error)}`;
      }
    }
    return undefined;
  }

  /** Sends a client IP as a proxy does, for a key that is valid from this client IP only. */
  async #findTrustingInstances(): Promise<void> {
    const [first] = this.instances;
    if (!first || !(await this.#session.ensureSignedIn(first))) return;
    const { id, secret } = await this.#canaries.newCallerKey(this.#session.account.id);
    await this.#session.send(first, 'PATCH', `/auth/api-keys/${id}`, { addresses: [clientIpOfProbes] });
    const headers = { authorization: `Bearer ${secret}`, 'x-forwarded-for': clientIpOfProbes };
    for (const instance of this.#verifying) {
      const response = await instance.send({ method: 'GET', path: '/auth/forward', headers }).catch(() => undefined);
      instance.trustsForwardedFor = response?.status === 200;
    }
  }

  /**
   * A report without a secret has no effect. Only instances that trust this process get reports: for the others, all reports
   * would count towards the limit of this machine's IP range.
   */
  async #findReportedInstances(): Promise<void> {
    const trusting = this.instances.filter(({ trustsForwardedFor }) => trustsForwardedFor);
    const finding = trusting.map(async (instance) => {
      const response = await reportLeak(instance, 'no secret').catch(() => undefined);
      instance.acceptsLeakReports = response?.status === 202;
    });
    await Promise.all(finding);
  }

  /** Instances with different public URLs reject each other’s access tokens. */
  async #findRejectedTokens(): Promise<readonly string[]> {
    const [first] = this.instances;
    if (!first || !(await this.#session.ensureSignedIn(first)))
      return [`a canary account cannot sign in at ${first?.url}`];
    const found = [];
    for (const instance of this.instances) {
      const response = await this.#session.send(instance, 'GET', '/auth/api-keys');
      if (response?.status === 200) continue;
      const result = response ? `returns ${response.status}` : 'sends no response';
      found.push(
        `${instance.url} ${result} for an access token of ${first.url}: do all instances have the same KEYREEVE_PUBLIC_URL and KEYREEVE_AUDIENCE?`,
      );
      await this.#session.ensureSignedIn(first);
    }
    return found;
  }

  /** For some seconds after the first import, a running instance may reject imported keys. That is not a violation. */
  async #findRejectedImports(): Promise<readonly string[]> {
    const imported = this.#canaries.importsKeys && (await this.#canaries.importKey(this.#caller.accountId));
    if (!imported) return [];
    const headers = { authorization: `Bearer ${imported.secret}` };
    const found: string[] = [];
    for (const instance of this.instances) {
      const accepted = async (): Promise<boolean> =>
        (await instance.send({ method: 'GET', path: '/auth/forward', headers }).catch(() => undefined))?.status === 200;
      if (await accepted()) continue;
      await setTimeout(limits.importedKeysLookSeconds * 1_000);
      if (!(await accepted())) found.push(`${instance.url} rejects a key that was just imported`);
    }
    return found;
  }
}
