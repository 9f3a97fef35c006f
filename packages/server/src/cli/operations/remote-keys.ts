/**
 * API keys of a remote service. An administrator reads, restricts and deletes the keys of every account, and does everything
 * with keys of their own account and of service accounts that they manage. A management key does everything with keys of the
 * service accounts that its account manages.
 */
import {
  adminChangeKey,
  adminDeleteKey,
  adminGetKey,
  adminGetKeyUsage,
  adminListKeys,
  adminSearchKeys,
  changeKey,
  changeServiceAccountKey,
  createKey,
  createServiceAccountKey,
  deleteServiceAccountKey,
  endPreviousSecret,
  endServiceAccountPreviousSecret,
  getServiceAccount,
  getServiceAccountKey,
  getServiceAccountKeyUsage,
  listServiceAccountKeys,
  registerPublicKey,
  registerServiceAccountPublicKey,
  rotateKey,
  rotateServiceAccountKey,
  type KeyDetails,
  type ListedKeyFull,
  type UsageQuery,
} from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { KeyRequest } from '../../modules/api-keys/api-keys.ts';
import { nameOfKind, type GivenIdentity } from '../../modules/api-keys/client-identity.ts';
import type { RecentUse } from '../../modules/key-usage/key-usage.ts';
import { UsageError } from '../failure.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import type { AccountOperations } from './accounts.ts';
import {
  assertOwned,
  idOf,
  isIdentity,
  type CreatedKey,
  type GivenCredential,
  type KeyOperations,
  type KeyOwner,
  type NamedKey,
} from './keys.ts';

/** Routes that create keys, replace their secrets and change all of their members. */
const own = {
  create: createKey,
  register: registerPublicKey,
  change: changeKey,
  rotate: rotateKey,
  endPrevious: endPreviousSecret,
};
const managed = {
  create: createServiceAccountKey,
  register: registerServiceAccountPublicKey,
  change: changeServiceAccountKey,
  rotate: rotateServiceAccountKey,
  endPrevious: endServiceAccountPreviousSecret,
};
type FullRoutes = typeof own | typeof managed;

/** Members that an administrator changes on keys of every account. */
const restrictions: readonly string[] = ['expiresAt', 'disabled', 'addresses', 'limits'];

export function remoteKeys(service: RemoteService, accounts: AccountOperations): KeyOperations {
  const parts = ({ owner, id }: NamedKey) =>
    service.caller === 'administrator' ? { params: { id: owner, keyId: id } } : ofManaged({ owner, id });
  const isAdministrator = service.caller === 'administrator';
  const read = (key: NamedKey): Promise<KeyDetails> =>
    service.request(isAdministrator ? adminGetKey : getServiceAccountKey, parts(key));
  const usage = (key: NamedKey, query: UsageQuery) =>
    service.request(isAdministrator ? adminGetKeyUsage : getServiceAccountKeyUsage, { ...parts(key), query });
  return {
    owner: (text) => ownerOf(service, accounts, text),
    find: (text, account) => findKey(service, accounts, idOf(text), account),
    list: (owner) => list(service, owner),
    read,
    usage,
    async recentUse(key) {
      const { lastUsedAt, lastUsedFrom } = await read(key);
      return {
        lastUsedAt: lastUsedAt === null ? null : Date.parse(lastUsedAt),
        lastUsedFrom,
        lastDay: await lastDayOf(() => usage(key, { step: 'hour' })),
      };
    },
    async create(owner, request, given) {
      const routes = await fullRoutes(service, accounts, owner);
      return create(service, routes, { owner, request, given });
    },
    async change(key, { expiresAt, ...others }) {
      const change = { ...others, ...(expiresAt === undefined ? {} : { expiresAt: timeOf(expiresAt) }) };
      const before = await read(key);
      const isRestriction = Object.keys(change).every((name) => restrictions.includes(name));
      const details =
        isAdministrator && isRestriction
          ? await service.request(adminChangeKey, { ...parts(key), body: change })
          : await service.request((await fullRoutes(service, accounts, key.owner)).change, {
              ...ofManaged(key),
              body: change,
            });
      return { details, isChanged: details.updatedAt !== before.updatedAt };
    },
    async rotate(key, request, given) {
      const { disabledAt } = await read(key);
      const { rotate } = await fullRoutes(service, accounts, key.owner);
      const body = { ...request, ...membersOf(given) };
      const rotated = await service.request(rotate, { ...ofManaged(key), body });
      return { ...rotated, key: rotated.key, isDisabled: disabledAt !== null };
    },
    async endPrevious(key) {
      const kind = nameOfKind(await read(key));
      await service.request((await fullRoutes(service, accounts, key.owner)).endPrevious, ofManaged(key));
      return { kind };
    },
    delete: async (key) =>
      void (await service.request(isAdministrator ? adminDeleteKey : deleteServiceAccountKey, parts(key))),
  };
}

/** Routes of an account's own keys have only the id. */
const ofManaged = ({ owner, id }: NamedKey) => ({ params: { accountId: owner, id } });

const membersOf = ({ publicKey, trust }: GivenIdentity) => ({
  ...(publicKey === undefined ? {} : { publicKey }),
  ...(trust === undefined ? {} : { trust }),
});

const timeOf = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

async function ownerOf(service: RemoteService, accounts: AccountOperations, text: string): Promise<KeyOwner> {
  if (service.caller === 'administrator') {
    const { id, email } = await accounts.find(text);
    return { id, email: email ?? id };
  }
  const { id } = await service.request(getServiceAccount, { params: { id: text } });
  return { id, email: id };
}

async function findKey(
  service: RemoteService,
  accounts: AccountOperations,
  id: number,
  account: string | undefined,
): Promise<NamedKey> {
  if (service.caller === 'administrator') {
    const { apiKeys } = await service.request(adminSearchKeys, { query: { id } });
    const owner = apiKeys[0]?.owner.id;
    if (owner === undefined) throw new DomainError('key_not_found', { detail: `There is no API key ${id}.` });
    return assertOwned({ id, owner }, account && (await accounts.find(account)).id);
  }
  if (account === undefined)
    throw new UsageError('with --key-file, name the service account of the key: --account <id>');
  return { id, owner: (await ownerOf(service, accounts, account)).id };
}

async function list(service: RemoteService, owner: string): Promise<readonly ListedKeyFull[]> {
  if (service.caller === 'administrator')
    return (await service.request(adminListKeys, { params: { id: owner } })).apiKeys;
  return listManagedKeys(service, owner);
}

export async function listManagedKeys(service: RemoteService, owner: string): Promise<readonly ListedKeyFull[]> {
  const query = { view: 'full' };
  const { apiKeys } = await service.request(listServiceAccountKeys, { params: { accountId: owner }, query });
  // Of `view=full`.
  return apiKeys as readonly ListedKeyFull[];
}

/** @throws UsageError for an account whose keys the caller cannot create */
async function fullRoutes(service: RemoteService, accounts: AccountOperations, owner: string): Promise<FullRoutes> {
  if (service.caller === 'management_key') return managed;
  if ((await service.accountId()) === owner) return own;
  if ((await accounts.find(owner)).kind === 'service') return managed;
  throw new UsageError(
    'with --url, administrators create and rotate keys, and change their nicknames, scopes and metadata, only for their own account and for service accounts that they manage',
  );
}

interface Creation {
  readonly owner: string;
  readonly request: KeyRequest;
  readonly given: GivenCredential;
}

async function create(
  service: RemoteService,
  routes: FullRoutes,
  { owner, request, given: { sha256, ...given } }: Creation,
): Promise<CreatedKey> {
  if (sha256 !== undefined && service.caller !== 'management_key')
    throw new UsageError('with --url, --sha256 needs a management key: --key-file');
  const { expiresAt, ...others } = request;
  const body = {
    ...others,
    ...(expiresAt === undefined ? {} : { expiresAt: timeOf(expiresAt) }),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...membersOf(given),
  };
  const parts = { params: { accountId: owner }, body };
  const created = !isIdentity(given) ? await service.request(routes.create, parts) : undefined;
  const { id, nickname, createdAt, updatedAt } = created ?? (await service.request(routes.register, parts));
  // The secret exists nowhere else, so a failure of this request must not lose it.
  const full = await list(service, owner).catch(() => []);
  const { scopes, expiresAt: ends, environment } = full.find((key) => key.id === id) ?? {};
  const more = scopes === undefined ? {} : { scopes, expiresAt: ends, environment };
  return { id, nickname, createdAt, updatedAt, ...more, key: created?.key } as CreatedKey;
}

/** @returns undefined if verifications are not counted */
async function lastDayOf(read: () => Promise<{ readonly usage: readonly Counts[] }>): Promise<RecentUse['lastDay']> {
  try {
    const { usage } = await read();
    const sum = (name: keyof Counts): number => usage.reduce((total, entry) => total + entry[name], 0);
    return { accepted: sum('accepted'), refused: sum('refused') };
  } catch (error) {
    if (error instanceof DomainError && error.code === 'usage_not_kept') return undefined;
    throw error;
  }
}

interface Counts {
  readonly accepted: number;
  readonly refused: number;
}
