/**
 * Removes signing keys of an issuer whose JWK set the instances fetch, and demands that they fetch it anew, while tokens are exchanged:
 * a token of a removed key must not be exchanged after the response.
 */
import { setTimeout } from 'node:timers/promises';
import { ExchangingKey } from '../../revocation-check/exchanging-key.ts';
import { pauseMs } from '../../revocation-check/key-deletion.ts';
import { KeyAbandoned } from '../../revocation-check/key-requests.ts';
import { KeySource } from '../../revocation-check/key-source.ts';
import type { ScenarioOptions } from '../../revocation-check/scenario-options.ts';
import { DomainError } from '../../src/foundation/errors.ts';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { newIssuerKey, type IssuerKey } from '../../test-kit/identity-issuer.ts';
import type { Cluster } from './cluster.ts';

const subject = 'canary';
const roundsPerKey = 4;

export async function runRefreshScenario(cluster: Cluster, options: ScenarioOptions): Promise<void> {
  const { canaries, isOver } = options;
  const { issuer, changes } = cluster;
  const declaration = { url: issuer.url, algorithms: ['ES256'], replay: 'until-exp', idClaims: ['/sub'] } as const;
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DomainError || error instanceof KeyAbandoned)) throw error;
      // oxlint-disable-next-line keyreeve/no-test-bounds -- a pause before the next attempt, which decides nothing
      await setTimeout(pauseMs);
      return undefined;
    }
  };
  let id: number | undefined;
  while (id === undefined && !isOver())
    id = await attempt(() =>
      canaries.addIssuer({ ...declaration, algorithms: [...declaration.algorithms], idClaims: ['/sub'] }),
    );
  if (id === undefined) return;
  const refresh = (): Promise<void> => changes.refreshIssuer(id);
  while (!isOver()) {
    const key = await attempt(async () =>
      ExchangingKey.register(new KeySource(await canaries.newAccount(), options), trustIn(cluster), options),
    );
    if (!key) continue;
    // A JWK set is fetched for an unknown key only once in a minute, so the last refresh must have had an effect.
    const isFresh = await attempt(() => refresh().then(() => true));
    for (let left = isFresh === true ? roundsPerKey : 0; left > 0 && !isOver(); left--)
      if ((await attempt(() => replaceSigningKey(key, refresh, cluster, options))) === undefined) break;
    await key.delete();
  }
}

const trustIn = ({ issuer }: Cluster, signer?: IssuerKey) => ({
  member: { trust: { issuer: issuer.url, claims: { sub: subject } } },
  form: (keyId: number) => ({
    client_id: String(keyId),
    assertion: issuer.token('kubernetes', { claims: { sub: subject }, ...(signer && { signer }) }),
  }),
});

/** @throws DomainError or KeyAbandoned if an outcome is unknown */
async function replaceSigningKey(
  key: ExchangingKey,
  refresh: () => Promise<void>,
  cluster: Cluster,
  { checker }: ScenarioOptions,
): Promise<true> {
  const { issuer } = cluster;
  const removed = issuer.keys.at(-1) ?? issuer.rotate(newIssuerKey('ES256'));
  const { form } = trustIn(cluster, removed);
  // Fills the caches of all instances.
  await key.exchangeEverywhere(form, false);
  issuer.rotate(newIssuerKey('ES256'));
  issuer.remove(removed);
  const inFlight = key.exchangeEverywhere(form, false);
  const effects = [{ condition: key.record, to: 'unmet' }] as const;
  const change = checker.beginKeyChange('issuerRefreshed', effects, 'refresh of the JWK set', monotonicMs());
  let isKnown = false;
  try {
    await refresh();
    isKnown = true;
  } finally {
    checker.endKeyChange(change, isKnown ? 'changed' : 'unknown', monotonicMs());
    await Promise.all([inFlight, key.exchangeEverywhere(form, false)]);
    key.startAnew();
  }
  await key.exchangeEverywhere(undefined, false);
  return true;
}
