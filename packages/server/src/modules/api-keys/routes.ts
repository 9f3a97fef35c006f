/** HTTP routes of API keys: of an account's own keys, and of the keys of service accounts. */
import * as contract from '@keyreeve/contract';
import { wantsTotal } from '../../foundation/cursor.ts';
import { invalidAt } from '../../foundation/errors.ts';
import { route, type Call, type Route } from '../../http/route.ts';
import type { ApiKeys } from './api-keys.ts';
import type { KeyChanges } from './changes.ts';
import { nameOfKind } from './client-identity.ts';
import { ownAccount, type OwnerOf } from './key-owner.ts';
import { keyIdOf, toChangeRequest, toRotationRequest, toTime } from './key-request.ts';
import { toFullKey, toKey, toKeyDetails, toRotatedKey, toRotatedPublicKey } from './key-view.ts';

const own = {
  createKey: contract.createKey,
  registerPublicKey: contract.registerPublicKey,
  listKeys: contract.listKeys,
  getKey: contract.getKey,
  changeKey: contract.changeKey,
  rotateKey: contract.rotateKey,
  endPreviousSecret: contract.endPreviousSecret,
  deleteKey: contract.deleteKey,
} as const;

const ofServiceAccounts = {
  createKey: contract.createServiceAccountKey,
  registerPublicKey: contract.registerServiceAccountPublicKey,
  listKeys: contract.listServiceAccountKeys,
  getKey: contract.getServiceAccountKey,
  changeKey: contract.changeServiceAccountKey,
  rotateKey: contract.rotateServiceAccountKey,
  endPreviousSecret: contract.endServiceAccountPreviousSecret,
  deleteKey: contract.deleteServiceAccountKey,
} as const;

/** @returns the usage of keys in the last days, by id; undefined if verifications are not counted */
export type RecentUsageOf = (
  keyIds: readonly number[],
) => Promise<ReadonlyMap<number, contract.RecentUsage> | undefined>;

export const apiKeyRoutes = (apiKeys: ApiKeys, changes: KeyChanges, recentUsage: RecentUsageOf): readonly Route[] =>
  routesOf(own, ownAccount, { apiKeys, changes, recentUsage });

/** @param ownerOf rejects callers that do not manage the service account */
export const serviceAccountKeyRoutes = (
  ownerOf: OwnerOf,
  apiKeys: ApiKeys,
  changes: KeyChanges,
  recentUsage: RecentUsageOf,
): readonly Route[] => routesOf(ofServiceAccounts, ownerOf, { apiKeys, changes, recentUsage });

interface Parts {
  readonly apiKeys: ApiKeys;
  readonly changes: KeyChanges;
  readonly recentUsage: RecentUsageOf;
}

function routesOf(
  contracts: typeof own | typeof ofServiceAccounts,
  ownerOf: OwnerOf,
  { apiKeys, changes, recentUsage }: Parts,
): readonly Route[] {
  return [
    route(contracts.createKey, async (call) => {
      const accountId = await ownerOf(call);
      const created = await create(apiKeys, call, accountId);
      const path = contracts.createKey.path.replace(':accountId', accountId);
      return { status: 201, headers: ['Location', `${path}/${created.id}`], body: created };
    }),
    route(contracts.registerPublicKey, async (call) => {
      const accountId = await ownerOf(call);
      const { expiresAt, publicKey, trust, ...others } = call.body;
      const request = { ...others, expiresAt: toTime(expiresAt) };
      const given = { publicKey, trust };
      const created = toKey(await apiKeys.createWithIdentity(call.principal, accountId, request, given));
      const path = contracts.createKey.path.replace(':accountId', accountId);
      return { status: 201, headers: ['Location', `${path}/${created.id}`], body: created };
    }),
    route(contracts.listKeys, async (call) => {
      return { status: 200, body: await list(apiKeys, await ownerOf(call), call.query, { recentUsage }) };
    }),
    route(contracts.getKey, async (call) => {
      const row = await changes.read(await ownerOf(call), keyIdOf(call.params.id));
      return { status: 200, body: toKeyDetails(row) };
    }),
    route(contracts.changeKey, async (call) => {
      const accountId = await ownerOf(call);
      const row = await changes.change(call.principal, accountId, keyIdOf(call.params.id), toChangeRequest(call.body));
      return { status: 200, body: toKeyDetails(row) };
    }),
    route(contracts.rotateKey, async (call) => {
      const accountId = await ownerOf(call);
      const id = keyIdOf(call.params.id);
      const { publicKey, trust, ...body } = call.body;
      const request = toRotationRequest(body);
      if (publicKey !== undefined || trust !== undefined) {
        const key = await changes.rotateIdentity(call.principal, accountId, id, { ...request, publicKey, trust });
        return { status: 200, body: toRotatedPublicKey(key) };
      }
      const rotation = await changes.rotate(call.principal, accountId, id, request);
      return { status: 200, body: toRotatedKey(rotation) };
    }),
    route(contracts.endPreviousSecret, async (call) => {
      const accountId = await ownerOf(call);
      const id = keyIdOf(call.params.id);
      const ended = nameOfKind(await changes.endPrevious(call.principal, accountId, id));
      return { status: 200, body: { message: `The previous ${ended} of API key ${id} has ended.` } };
    }),
    route(contracts.deleteKey, async (call) => {
      const accountId = await ownerOf(call);
      const id = keyIdOf(call.params.id);
      await apiKeys.delete(call.principal, accountId, id);
      return { status: 200, body: { message: `API key ${id} has been deleted.` } };
    }),
  ];
}

async function create(
  apiKeys: ApiKeys,
  { principal, body }: Call<typeof contract.createKey | typeof contract.createServiceAccountKey>,
  accountId: string,
): Promise<contract.CreatedServiceAccountKey> {
  const { expiresAt, sha256, ...others }: contract.NewServiceAccountKeyBody = body;
  const request = { ...others, expiresAt: toTime(expiresAt) };
  if (sha256 !== undefined) return toKey(await apiKeys.createWithHash(principal, accountId, request, sha256));
  const { secret, ...key } = await apiKeys.create(principal, accountId, request);
  const { id, nickname, createdAt, updatedAt } = toKey(key);
  return { id, nickname, key: secret.reveal(), createdAt, updatedAt };
}

interface ListOptions {
  readonly recentUsage: RecentUsageOf;
  /** Whether keys with reserved scopes are left out. */
  readonly hidesReserved?: boolean;
}

/** All keys; one page of them with `limit` or `cursor`; a page of a search with any other parameter except `view`. */
export async function list(
  apiKeys: ApiKeys,
  accountId: string,
  query: Call<typeof contract.listKeys>['query'],
  { recentUsage, hidesReserved = false }: ListOptions,
): Promise<{ apiKeys: object[]; nextCursor?: string | null; total?: contract.ListTotal }> {
  const { view, limit, cursor, search, state, sort, usage } = query;
  const toView = view === 'full' ? toFullKey : toKey;
  if (usage !== undefined && view !== 'full') throw invalidAt('/usage', 'Usage requires `view=full`.');
  const isSearch = [search, state, sort, usage].some((value) => value !== undefined);
  const hasTotal = wantsTotal(query);
  if (!isSearch && !hasTotal && limit === undefined && cursor === undefined)
    return { apiKeys: (await apiKeys.list(accountId, { hidesReserved })).map(toView) };
  const filtered = { ...query, hidesReserved };
  // A page without a search would contain the hidden keys.
  const isFiltered = isSearch || hidesReserved;
  const { keys, nextCursor } = isFiltered
    ? await apiKeys.search(accountId, filtered)
    : await apiKeys.page(accountId, query);
  const end = { nextCursor, ...(hasTotal && { total: await apiKeys.count(accountId, filtered) }) };
  if (usage === undefined) return { apiKeys: keys.map(toView), ...end };
  const used = await recentUsage(keys.map(({ id }) => id));
  return { apiKeys: keys.map((key) => ({ ...toFullKey(key), usage: used?.get(key.id) ?? null })), ...end };
}
