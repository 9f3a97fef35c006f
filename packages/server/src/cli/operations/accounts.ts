/** Accounts. */
import {
  adminDeleteAccount,
  adminDisableAccount,
  adminEnableAccount,
  adminGetAccount,
  adminListAccounts,
  adminRemoveSecondFactor,
  adminRequireSecondFactor,
  adminSetEmail,
  adminSetEntitlements,
  adminSetLimits,
  adminSetRole,
  adminWaiveSecondFactor,
  setServiceAccountEntitlements,
  setServiceAccountLimits,
  type AccountDetail,
  type AdministeredAccount,
  type KeyLimits,
} from '@keyreeve/contract';
import { isAccountId } from '../../foundation/account-id.ts';
import { toInstant } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { UsageError } from '../failure.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import { operator, type CommandContext } from '../session.ts';

/** Members that a list prints. */
export type ListedAccount = Pick<
  AdministeredAccount,
  'id' | 'kind' | 'email' | 'name' | 'role' | 'createdAt' | 'updatedAt' | 'disabledAt'
>;

type NamedAccount = Pick<AdministeredAccount, 'id' | 'kind' | 'email'>;
export type EntitledAccount = NamedAccount & Pick<AccountDetail, 'entitlements'>;
/** A management key gets only the limits. */
export type LimitedAccount = NamedAccount & Pick<AccountDetail, 'limits' | 'quotaUse'> & Partial<AccountDetail>;

/** Changes without parameters. Each returns the changed account. */
export type AccountChange = 'disable' | 'enable' | 'requireSecondFactor' | 'waiveSecondFactor' | 'removeSecondFactor';

export interface AccountOperations {
  /** @param idOrEmail @throws DomainError `account_not_found` */
  find(idOrEmail: string): Promise<AccountDetail>;
  list(): AsyncIterable<ListedAccount>;
  change(id: string, change: AccountChange): Promise<AccountDetail>;
  setRole(id: string, role: AccountDetail['role']): Promise<AccountDetail>;
  /** @returns the end of the link, undefined if it is not known */
  requestEmail(id: string, email: string): Promise<string | undefined>;
  /** @param patch keeps absent limits; null removes one. With a management key, it must have all of them */
  changeLimits(idOrEmail: string, patch: KeyLimits): Promise<LimitedAccount>;
  /** @param names undefined reads them, which a management key cannot */
  entitle(idOrEmail: string, names: readonly string[] | undefined): Promise<EntitledAccount>;
  delete(id: string): Promise<void>;
}

export function localAccounts(context: CommandContext): AccountOperations {
  const { accounts, administration, directory, emailSetting, entitlements } = context;
  const changes: Readonly<Record<AccountChange, (id: string) => Promise<void>>> = {
    disable: (id) => accounts.disable(operator, id),
    enable: (id) => accounts.enable(operator, id),
    requireSecondFactor: (id) => accounts.requireSecondFactor(operator, id, true),
    waiveSecondFactor: (id) => accounts.requireSecondFactor(operator, id, false),
    removeSecondFactor: (id) => administration.removeSecondFactor(operator, id, 'localhost'),
  };
  return {
    find: async (idOrEmail) => directory.read((await accounts.find(idOrEmail)).id),
    list: () => listLocal(context),
    change: (id, change) => directory.change(id, () => changes[change](id)),
    setRole: (id, role) => directory.change(id, () => accounts.setRole(operator, id, role)),
    requestEmail: async (id, email) => toInstant(await emailSetting.request(operator, id, email)),
    async changeLimits(idOrEmail, patch) {
      const { id } = await accounts.find(idOrEmail);
      return directory.change(id, () => administration.changeLimits(operator, id, patch));
    },
    async entitle(idOrEmail, names) {
      const { id } = await accounts.find(idOrEmail);
      return names ? directory.change(id, () => entitlements.set(operator, id, names)) : directory.read(id);
    },
    delete: (id) => accounts.delete(operator, id),
  };
}

async function* listLocal({ accounts }: CommandContext): AsyncGenerator<ListedAccount> {
  for await (const { id, email, name, role, createdAt, updatedAt, disabledAt } of accounts.list()) {
    const isService = email === id;
    const times = { createdAt: toInstant(createdAt), updatedAt: toInstant(updatedAt) };
    yield {
      id,
      kind: isService ? 'service' : 'person',
      email: isService ? null : email,
      name,
      role,
      ...times,
      disabledAt: disabledAt === null ? null : toInstant(disabledAt),
    };
  }
}

export function remoteAccounts(service: RemoteService): AccountOperations {
  const changes = {
    disable: adminDisableAccount,
    enable: adminEnableAccount,
    requireSecondFactor: adminRequireSecondFactor,
    waiveSecondFactor: adminWaiveSecondFactor,
    removeSecondFactor: adminRemoveSecondFactor,
  };
  return {
    find: (idOrEmail) => findRemote(service, idOrEmail),
    list: () => listRemote(service),
    change: (id, change) => service.request(changes[change], { params: { id } }),
    setRole: (id, role) => service.request(adminSetRole, { params: { id }, body: { role } }),
    async requestEmail(id, email) {
      await service.request(adminSetEmail, { params: { id }, body: { email } });
      return undefined;
    },
    changeLimits: (idOrEmail, patch) => changeRemoteLimits(service, idOrEmail, patch),
    entitle: (idOrEmail, names) => entitleRemote(service, idOrEmail, names),
    delete: async (id) => void (await service.request(adminDeleteAccount, { params: { id } })),
  };
}

async function changeRemoteLimits(
  service: RemoteService,
  idOrEmail: string,
  patch: KeyLimits,
): Promise<LimitedAccount> {
  // The request has all limits.
  if (service.caller === 'administrator') {
    const { id, limits } = await findRemote(service, idOrEmail);
    // A change by another administrator in between is lost.
    return service.request(adminSetLimits, { params: { id }, body: { ...limits, ...patch } });
  }
  if (patch.rate === undefined || patch.quota === undefined)
    throw new UsageError(
      'with --key-file, name both limits: --rate or --clear-rate, and --quota or --clear-quota. Management keys cannot read them',
    );
  const set = await service.request(setServiceAccountLimits, { params: { accountId: idOrEmail }, body: patch });
  return { ...serviceAccount(idOrEmail), ...set };
}

async function entitleRemote(
  service: RemoteService,
  idOrEmail: string,
  names: readonly string[] | undefined,
): Promise<EntitledAccount> {
  const body = { entitlements: names };
  if (service.caller === 'administrator') {
    const found = await findRemote(service, idOrEmail);
    return names ? service.request(adminSetEntitlements, { params: { id: found.id }, body }) : found;
  }
  if (!names) throw new UsageError('with --key-file, add --set or --clear: management keys cannot read entitlements');
  const set = await service.request(setServiceAccountEntitlements, { params: { accountId: idOrEmail }, body });
  return { ...serviceAccount(idOrEmail), ...set };
}

const serviceAccount = (id: string): NamedAccount => ({ id, kind: 'service', email: null });

async function findRemote(service: RemoteService, idOrEmail: string): Promise<AccountDetail> {
  const absent = new DomainError('account_not_found', { detail: `There is no account ${idOrEmail}.` });
  const id = isAccountId(idOrEmail)
    ? idOrEmail
    : (await service.request(adminListAccounts, { query: { email: idOrEmail } })).accounts[0]?.id;
  if (id === undefined) throw absent;
  return service.request(adminGetAccount, { params: { id } }).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'account_not_found' ? absent : error;
  });
}

/** In the order of the email addresses. */
async function* listRemote(service: RemoteService): AsyncGenerator<ListedAccount> {
  let cursor: string | undefined;
  do {
    const page = await service.request(adminListAccounts, { query: { cursor } });
    yield* page.accounts;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
