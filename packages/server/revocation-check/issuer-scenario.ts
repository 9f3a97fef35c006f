/**
 * Ends secrets that were issued for tokens of an issuer while they are verified. One scenario narrows, widens and removes issuers,
 * while tokens are exchanged. Another one changes the trust of keys.
 */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import { randomBase62 } from '../src/foundation/crypto/secret.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { CanaryIssuer, type Replay, type TokenKind } from './canary-issuer.ts';
import { ExchangingKey } from './exchanging-key.ts';
import type { KeyChangeKind } from './history.ts';
import { pauseMs } from './key-deletion.ts';
import { KeyAbandoned } from './key-requests.ts';
import { KeySource } from './key-source.ts';
import { pick } from './prober.ts';
import { ProbeLoops } from './probe-loops.ts';
import { forEachKey } from './scenario-key.ts';
import type { ScenarioOptions } from './scenario-options.ts';

const keysPerIssuer = 2;
const narrowingsPerIssuer = 2;
/** Of each key at each instance, while an issuer changes. */
const exchangesDuringChange = 2;
/** Verified everywhere before and after a change of an issuer. */
const secretsEverywhere = 4;
const nameChars = 16;

/** Declares an issuer. @returns undefined if it was rejected, or its outcome is unknown */
async function declare(
  { canaries }: ScenarioOptions,
  replay: Replay,
): Promise<{ readonly issuer: CanaryIssuer; readonly id: number } | undefined> {
  const issuer = new CanaryIssuer(randomBase62(nameChars).toLowerCase(), replay);
  try {
    return { issuer, id: await canaries.addIssuer(issuer.declaration) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return undefined;
  }
}

/** Creates keys that trust one issuer, one after the other. Each gets other trusts, and is deleted. */
export async function runTrustScenario(options: ScenarioOptions): Promise<void> {
  let declared: Awaited<ReturnType<typeof declare>>;
  while (!declared && !options.isOver()) {
    declared = await declare(options, 'once');
    if (!declared) await setTimeout(pauseMs);
  }
  const issuer = declared?.issuer;
  if (!issuer) return;
  let subjects = 0;
  const newTrust = () => issuer.trust(`subject ${++subjects}`);
  await forEachKey(
    options,
    (source) => ExchangingKey.register(source, newTrust(), options),
    async (key, probes) => {
      const more = (): Promise<void> => probes.more(1 + randomInt(options.probesMax));
      await key.exchange();
      await key.exchangeTwice();
      await more();
      await key.rotate('rotated', newTrust());
      await key.exchange();
      await key.exchange('previous');
      await more();
      if (randomInt(2) === 0) await key.endPrevious('trustEnded');
      else await key.rotate('trustEnded', newTrust(), 0);
      await more();
      if (randomInt(2) === 0) return;
      await key.setDisabled(true);
      await key.setDisabled(false);
    },
  );
}

/** Declares issuers one after the other. Each is narrowed and widened, and removed. */
export async function runIssuerScenario(options: ScenarioOptions): Promise<void> {
  while (!options.isOver()) {
    const declared = await declare(options, 'until-exp');
    if (declared) await new IssuerRound(declared, options).run();
    else await setTimeout(pauseMs);
  }
}

class IssuerRound {
  readonly #issuer: CanaryIssuer;
  readonly #id: number;
  readonly #options: ScenarioOptions;
  #keys: readonly ExchangingKey[] = [];

  constructor({ issuer, id }: { readonly issuer: CanaryIssuer; readonly id: number }, options: ScenarioOptions) {
    this.#issuer = issuer;
    this.#id = id;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { canaries, loops, probesMax, prober, isOver } = this.#options;
    this.#keys = await this.#newKeys();
    const probe = (): Promise<void> => {
      const secrets = this.#keys.flatMap((key) => key.secrets);
      return secrets.length === 0 ? setTimeout(pauseMs) : prober.probeAnywhere(pick(secrets));
    };
    const probes = new ProbeLoops(loops, probe);
    try {
      for (let left = narrowingsPerIssuer; left > 0 && !isOver(); left--) {
        await this.#exchangeEverywhere('narrow');
        await this.#exchangeEverywhere('wide');
        await probes.more(1 + randomInt(probesMax));
        const { narrow, widen } = pick(this.#issuer.narrowings);
        await this.#end('issuerNarrowed', () => canaries.issuers.change(this.#id, narrow));
        await this.#exchangeEverywhere('narrow');
        await probes.more(1 + randomInt(probesMax));
        await canaries.issuers.change(this.#id, widen);
      }
      await this.#exchangeEverywhere('wide');
      await this.#end('issuerRemoved', () => canaries.removeIssuer(this.#issuer.url));
      await probes.more(1 + randomInt(probesMax));
    } catch (error) {
      if (!(error instanceof KeyAbandoned || error instanceof DomainError)) throw error;
    } finally {
      for (const key of this.#keys) await key.delete();
      await probes.stop();
    }
  }

  async #newKeys(): Promise<readonly ExchangingKey[]> {
    const keys: ExchangingKey[] = [];
    try {
      const source = new KeySource(await this.#options.canaries.newAccount(), this.#options);
      for (let number = 1; number <= keysPerIssuer; number++) {
        const key = await ExchangingKey.register(source, this.#issuer.trust(subject), this.#options);
        if (key) keys.push(key);
      }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
    return keys;
  }

  async #exchangeEverywhere(kind: TokenKind): Promise<void> {
    const { form } = this.#issuer.trust(subject, kind);
    await Promise.all(this.#keys.map((key) => key.exchangeEverywhere(form)));
  }

  /**
   * Makes a change that ends all secrets of the issuer, while tokens that it rejects afterwards are exchanged.
   * @throws KeyAbandoned if its outcome is unknown
   */
  async #end(kind: KeyChangeKind, make: () => Promise<void>): Promise<void> {
    const { checker } = this.#options;
    const before = [this.#probeEverywhere()];
    const effects = this.#keys.map(({ record }) => ({ condition: record, to: 'unmet' }) as const);
    const exchange = (): Promise<void> => this.#exchangeEverywhere('wide');
    for (let left = exchangesDuringChange; left > 0; left--) before.push(exchange());
    const change = checker.beginKeyChange(kind, effects, `change ${kind}`, monotonicMs());
    const isKnown = await make().then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof DomainError)) throw error;
        return false;
      },
    );
    checker.endKeyChange(change, isKnown ? 'changed' : 'unknown', monotonicMs());
    await Promise.all([...before, exchange()]);
    await this.#probeEverywhere();
    if (!isKnown) throw new KeyAbandoned();
    for (const key of this.#keys) key.startAnew();
  }

  /** A sample of the secrets. */
  async #probeEverywhere(): Promise<void> {
    const { prober } = this.#options;
    const secrets = this.#keys.flatMap((key) => key.secrets);
    const sample = secrets.length === 0 ? [] : Array.from({ length: secretsEverywhere }, () => pick(secrets));
    await Promise.all(sample.map((secret) => prober.probeEverywhere(secret)));
  }
}

const subject = 'canary';
