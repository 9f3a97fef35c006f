/** Service accounts and their managers. What a remote service does not return is undefined. */
import {
  adminAddManager,
  adminDeleteAccount,
  adminListAccounts,
  adminListManagers,
  adminRemoveManager,
  changeServiceAccount,
  createServiceAccount,
  deleteServiceAccount,
  getServiceAccount,
  listManagers,
  listServiceAccounts,
  type Manager,
  type ServiceAccount,
} from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import * as stored from '../../modules/service-accounts/list-store.ts';
import { toServiceAccount } from '../../modules/service-accounts/routes.ts';
import { isService } from '../account-text.ts';
import { UsageError } from '../failure.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import { operator, type CommandContext } from '../session.ts';
import type { AccountOperations } from './accounts.ts';
import { listManagedKeys } from './remote-keys.ts';

export type ListedServiceAccount = Omit<ServiceAccount, 'updatedAt'> & {
  readonly updatedAt?: string;
  readonly managers?: number;
  readonly keys?: number;
  readonly disabledAt?: string | null;
};

export interface ShownManager {
  readonly accountId: string;
  /** Null for a service account, and for an account that the caller cannot read. */
  readonly email: string | null;
  readonly addedAt: string;
}

export type ShownServiceAccount = Omit<ListedServiceAccount, 'managers' | 'keys'> & {
  readonly keys: number;
  readonly managers: readonly ShownManager[];
};

export interface Filter {
  readonly manager: string | undefined;
  readonly externalId: string | undefined;
}

export interface NewServiceAccount {
  readonly name: string;
  readonly externalId: string | undefined;
  /** Email address or id of the creator. A remote service creates the account for the caller. */
  readonly manager: string | undefined;
}

export interface ServiceAccountOperations {
  create(wanted: NewServiceAccount): Promise<ServiceAccount>;
  list(filter: Filter): AsyncIterable<ListedServiceAccount>;
  show(id: string): Promise<ShownServiceAccount>;
  change(id: string, members: { readonly name?: string; readonly externalId?: string | null }): Promise<ServiceAccount>;
  delete(id: string): Promise<void>;
  /** @returns the manager, with the id as the email address of a service account */
  changeManager(
    change: 'add' | 'remove',
    id: string,
    account: string,
  ): Promise<{ readonly id: string; readonly email: string }>;
}

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

export function localServiceAccounts(context: CommandContext): ServiceAccountOperations {
  const { accounts, apiKeys, managers, serviceAccounts, installation } = context;
  return {
    async create({ name, externalId = null, manager }) {
      if (manager === undefined) throw new UsageError('name the creator and first manager: --manager <account>');
      const { id } = await accounts.find(manager);
      return toServiceAccount(await serviceAccounts.create(operator, id, { name, externalId }));
    },
    async *list({ manager, externalId }) {
      const managerId = manager === undefined ? undefined : (await accounts.find(manager)).id;
      for await (const row of stored.listServiceAccounts(installation.db, { managerId, externalId }))
        yield {
          ...toServiceAccount(row),
          managers: row.managers,
          keys: row.keys,
          disabledAt: instantOrNull(row.disabledAt),
        };
    },
    async show(id) {
      const row = await serviceAccounts.find(operator, id);
      const { disabledAt } = await accounts.findById(id);
      const keys = (await apiKeys.list(id)).length;
      const rows = await managers.list(operator, id);
      return {
        ...toServiceAccount(row),
        disabledAt: instantOrNull(disabledAt),
        keys,
        managers: await Promise.all(
          rows.map(async ({ id: accountId, addedAt }) => {
            const account = await accounts.findById(accountId);
            return { accountId, email: isService(account) ? null : account.email, addedAt: toInstant(addedAt) };
          }),
        ),
      };
    },
    change: async (id, members) => toServiceAccount(await serviceAccounts.change(operator, id, members)),
    delete: (id) => serviceAccounts.delete(operator, id),
    async changeManager(change, id, account) {
      const found = await accounts.find(account);
      await managers[change](operator, id, found.id);
      return found;
    },
  };
}

export function remoteServiceAccounts(service: RemoteService, accounts: AccountOperations): ServiceAccountOperations {
  const isAdministrator = service.caller === 'administrator';
  return {
    async create({ name, externalId, manager }) {
      if (
        manager !== undefined &&
        !(isAdministrator && (await accounts.find(manager)).id === (await service.accountId()))
      )
        throw new UsageError(
          'with --url, the account of the caller is the creator and first manager; leave out --manager',
        );
      return service.request(createServiceAccount, {
        body: { name, ...(externalId === undefined ? {} : { externalId }) },
      });
    },
    list: (filter) => listRemote(service, filter),
    show: (id) => (isAdministrator ? showAsAdministrator(service, accounts, id) : showAsManager(service, id)),
    change: (id, body) => service.request(changeServiceAccount, { params: { id }, body }),
    delete: async (id) =>
      void (await service.request(isAdministrator ? adminDeleteAccount : deleteServiceAccount, { params: { id } })),
    async changeManager(change, id, account) {
      const { id: accountId, email } = await accounts.find(account);
      await service.request(change === 'add' ? adminAddManager : adminRemoveManager, { params: { id, accountId } });
      return { id: accountId, email: email ?? accountId };
    },
  };
}

async function* listRemote(
  service: RemoteService,
  { manager, externalId }: Filter,
): AsyncGenerator<ListedServiceAccount> {
  if (manager !== undefined) throw new UsageError('--manager does not work with --url');
  let cursor: string | undefined;
  do {
    if (service.caller === 'management_key') {
      const page = await service.request(listServiceAccounts, { query: { externalId, cursor } });
      yield* page.serviceAccounts;
      cursor = page.nextCursor ?? undefined;
    } else {
      const page = await service.request(adminListAccounts, { query: { kind: 'service', cursor } });
      for (const { id, name, externalId: own, creatorId, createdAt, disabledAt } of page.accounts)
        if (externalId === undefined || own === externalId)
          yield { id, name: name ?? '', externalId: own, creatorId, createdAt, disabledAt };
      cursor = page.nextCursor ?? undefined;
    }
  } while (cursor !== undefined);
}

async function showAsAdministrator(
  service: RemoteService,
  accounts: AccountOperations,
  id: string,
): Promise<ShownServiceAccount> {
  const found = await accounts.find(id).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'account_not_found' ? noServiceAccount() : error;
  });
  if (found.kind !== 'service') throw noServiceAccount();
  const { name, externalId, creatorId, createdAt, disabledAt, apiKeyCount: keys } = found;
  const { managers } = await service.request(adminListManagers, { params: { id } });
  const named = managers.map(async (manager: Manager) => {
    const { email } = await accounts.find(manager.accountId);
    return { accountId: manager.accountId, email, addedAt: manager.addedAt };
  });
  return {
    id,
    name: name ?? '',
    externalId,
    creatorId,
    createdAt,
    disabledAt,
    keys,
    managers: await Promise.all(named),
  };
}

async function showAsManager(service: RemoteService, id: string): Promise<ShownServiceAccount> {
  const found = await service.request(getServiceAccount, { params: { id } });
  const { managers } = await service.request(listManagers, { params: { id } });
  const keys = (await listManagedKeys(service, id)).length;
  return { ...found, keys, managers: managers.map((manager) => ({ ...manager, email: null })) };
}

const noServiceAccount = (): DomainError =>
  new DomainError('account_not_found', { detail: 'No service account has this id.' });
