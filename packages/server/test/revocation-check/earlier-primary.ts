/**
 * A standby is promoted while the earlier primary still answers. One instance moves to the promoted server and deletes keys; the
 * other one keeps its connections to the earlier primary, and verifies them. For mutants, which a test of the driver cannot build.
 */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { until } from '../../test-kit/until.ts';
import { Cluster, type ClusterInstance } from './cluster.ts';
import type { Edit } from './mutant-edits.ts';
import { makeBuiltCopy } from './mutant-run.ts';

export interface EarlierPrimaryRun {
  /** Verifications that began after the response to the deletion of their key. */
  readonly after: number;
  /** Of these, those that accepted the key. */
  readonly accepted: number;
  /** Whether the other instance verifies in the end. */
  readonly hasMoved: boolean;
}

const keyCount = 3;
const verificationsOfEach = 30;
/** Seconds. With those of the product, a run would take a minute. */
const shortTimes: Edit = {
  file: 'foundation/database/database-waits.ts',
  find: `  validMs: limits.postgresProofSeconds * 1000,
  settleMs: limits.postgresSettleSeconds * 1000,`,
  replace: `  validMs: 4_000,
  settleMs: 4_300,`,
};

/** @param isCutOff whether the other instance reaches only the earlier primary; otherwise its new connections reach the promoted server */
export async function runEarlierPrimary(edits: readonly Edit[], isCutOff: boolean): Promise<EarlierPrimaryRun> {
  using folder = newTempFolder();
  const copy = makeBuiltCopy(folder.path, [shortTimes, ...edits]);
  await using earlier = await PostgresServer.start();
  await using promoted = await PostgresServer.startStandbyOf(earlier, 'promoted');
  await using third = await PostgresServer.startStandbyOf(promoted, 'third');
  await using cluster = await Cluster.start({
    instances: 2,
    bin: copy.bin,
    postgres: earlier,
    environment: { ...copy.environment, KEYREEVE_DATABASE_FAILOVER: 'unfenced' },
  });
  const [current, other] = cluster.instances as [ClusterInstance, ClusterInstance];
  const { email, password } = await cluster.canaries.newAccount();
  const client = await AccountClient.signIn(current, email, password);
  const keys = [];
  for (let number = 0; number < keyCount; number++) keys.push(await client.newKey(`key ${number}`));
  for (const { secret } of keys) assert.equal(await verify(other, secret), 200);

  await promoted.promote();
  assert.ok(third.pid !== undefined);
  current.proxy?.retarget(promoted.url());
  current.proxy?.cutAll();
  if (!isCutOff) other.proxy?.retarget(promoted.url());
  let [after, accepted] = [0, 0];
  for (const { id, secret } of keys) {
    await until('the key is deleted', () => client.delete(id));
    for (let verifications = 0; verifications < verificationsOfEach; verifications++) {
      if ((await verify(other, secret)) === 200) accepted++;
      after++;
      await turn();
    }
  }
  const hasMoved = isCutOff || (await moves(other, keys[0]?.secret ?? ''));
  // Its databases could not be dropped.
  await earlier.stop();
  return { after, accepted, hasMoved };
}

async function moves(instance: ClusterInstance, secret: string): Promise<boolean> {
  await until('the instance verifies', async () => (await verify(instance, secret)) !== 503);
  return true;
}

async function verify({ url }: ClusterInstance, secret: string): Promise<number> {
  const { status } = await fetch(`${url}/auth/forward`, { headers: { authorization: `Bearer ${secret}` } });
  return status;
}

class AccountClient {
  readonly #instance: ClusterInstance;
  readonly #accessToken: string;

  private constructor(instance: ClusterInstance, accessToken: string) {
    this.#instance = instance;
    this.#accessToken = accessToken;
  }

  static async signIn(instance: ClusterInstance, email: string, password: string): Promise<AccountClient> {
    const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`;
    const response = await fetch(`${instance.url}/auth/token`, { method: 'POST', headers: { authorization } });
    const { accessToken } = (await response.json()) as { accessToken: string };
    return new AccountClient(instance, accessToken);
  }

  async newKey(nickname: string): Promise<{ readonly id: number; readonly secret: string }> {
    const response = await this.#call('POST', '', JSON.stringify({ nickname }));
    const { id, key } = (await response.json()) as { id: number; key: string };
    return { id, secret: key };
  }

  /** @returns whether the response confirms the deletion */
  async delete(id: number): Promise<boolean> {
    const { status } = await this.#call('DELETE', `/${id}`);
    assert.ok([200, 404, 503].includes(status), `${status}`);
    return status !== 503;
  }

  #call(method: string, path: string, body?: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#accessToken}`, 'content-type': 'application/json' };
    const init = body === undefined ? { method, headers } : { method, headers, body };
    return fetch(`${this.#instance.url}/auth/api-keys${path}`, init);
  }
}
