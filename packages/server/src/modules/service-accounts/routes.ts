/** HTTP routes of service accounts and their managers. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { route, type Route } from '../../http/route.ts';
import type { ManagerRow, Managers } from './managers.ts';
import type { ServiceAccountRow, ServiceAccounts } from './service-accounts.ts';

export const serviceAccountRoutes = (accounts: ServiceAccounts, managers: Managers): readonly Route[] => [
  route(contract.createServiceAccount, async ({ principal, body }) => {
    const created = await accounts.create(principal, principal.accountId, body);
    return {
      status: 201,
      headers: ['Location', `/auth/service-accounts/${created.id}`],
      body: toServiceAccount(created),
    };
  }),
  route(contract.listServiceAccounts, async ({ principal, query }) => {
    const { serviceAccounts, ...page } = await accounts.page(principal, query);
    return { status: 200, body: { serviceAccounts: serviceAccounts.map(toServiceAccount), ...page } };
  }),
  route(contract.getServiceAccount, async ({ principal, params: { id } }) => ({
    status: 200,
    body: toServiceAccount(await accounts.find(principal, id)),
  })),
  route(contract.changeServiceAccount, async ({ principal, params: { id }, body }) => ({
    status: 200,
    body: toServiceAccount(await accounts.change(principal, id, body)),
  })),
  route(contract.deleteServiceAccount, async ({ principal, params: { id } }) => {
    await accounts.delete(principal, id);
    return { status: 200, body: { message: `The service account ${id} has been deleted.` } };
  }),
  route(contract.listManagers, async ({ principal, params: { id } }) => ({
    status: 200,
    body: { managers: (await managers.list(principal, id)).map(toManager) },
  })),
  route(contract.addManager, async ({ principal, params: { id, accountId } }) => ({
    status: 200,
    body: toManager(await managers.add(principal, id, accountId)),
  })),
  route(contract.removeManager, async ({ principal, params: { id, accountId } }) => {
    await managers.remove(principal, id, accountId);
    return { status: 200, body: { message: removalMessage(id, accountId) } };
  }),
];

export const managerAdminRoutes = (managers: Managers): readonly Route[] => [
  route(contract.adminListManagers, async ({ principal, params: { id } }) => ({
    status: 200,
    body: { managers: (await managers.list(principal, id)).map(toManager) },
  })),
  route(contract.adminAddManager, async ({ principal, params: { id, accountId } }) => ({
    status: 200,
    body: toManager(await managers.add(principal, id, accountId)),
  })),
  route(contract.adminRemoveManager, async ({ principal, params: { id, accountId } }) => {
    await managers.remove(principal, id, accountId);
    return { status: 200, body: { message: removalMessage(id, accountId) } };
  }),
];

const removalMessage = (id: string, managerId: string): string =>
  `${managerId} is no longer a manager of the service account ${id}.`;

export const toServiceAccount = (row: ServiceAccountRow): contract.ServiceAccount => ({
  id: row.id,
  name: row.name,
  externalId: row.externalId,
  creatorId: row.creatorId,
  createdAt: toInstant(row.createdAt),
  updatedAt: toInstant(row.updatedAt),
});

const toManager = ({ id, addedAt }: ManagerRow): contract.Manager => ({ accountId: id, addedAt: toInstant(addedAt) });
