/** HTTP routes of the scope catalogue and of entitlements. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { route, type Route } from '../../http/route.ts';
import type { ScopeCatalogue, ScopeRow } from './scope-catalogue.ts';

export const scopeRoutes = (catalogue: ScopeCatalogue): readonly Route[] => [
  route(contract.listGrantableScopes, async ({ principal }) => ({
    status: 200,
    body: { scopes: await catalogue.listFor(principal.accountId) },
  })),
];

export const scopeAdminRoutes = (catalogue: ScopeCatalogue): readonly Route[] => [
  route(contract.adminListScopes, async () => ({
    status: 200,
    body: { scopes: (await catalogue.list()).map(toScope) },
  })),
  route(contract.adminGetScope, async ({ params: { name } }) => ({
    status: 200,
    body: toScope(await catalogue.find(name)),
  })),
  route(contract.adminSetScope, async ({ principal, params: { name }, body }) => ({
    status: 200,
    body: toScope(await catalogue.set(principal, name, body)),
  })),
  route(contract.adminDeleteScope, async ({ principal, params: { name } }) => {
    await catalogue.delete(principal, name);
    return { status: 200, body: { message: `The scope ${name} has been deleted.` } };
  }),
];

export const toScope = (row: ScopeRow): contract.DeclaredScope => ({
  name: row.name,
  description: row.description,
  entitled: row.needsEntitlement === 1,
  createdAt: toInstant(row.createdAt),
  updatedAt: toInstant(row.updatedAt),
  deletedAt: row.deletedAt === null ? null : toInstant(row.deletedAt),
});
