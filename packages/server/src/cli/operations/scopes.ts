/** The scope catalogue. */
import { adminDeleteScope, adminListScopes, adminSetScope, type DeclaredScope } from '@keyreeve/contract';
import { toScope } from '../../modules/scope-catalogue/routes.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import { operator, type CommandContext } from '../session.ts';

export interface ScopeOperations {
  list(): Promise<readonly DeclaredScope[]>;
  /** Absent members keep their values. */
  set(name: string, given: { readonly description?: string; readonly entitled?: boolean }): Promise<DeclaredScope>;
  delete(name: string): Promise<void>;
}

export const localScopes = ({ scopeCatalogue }: CommandContext): ScopeOperations => ({
  list: async () => (await scopeCatalogue.list()).map(toScope),
  set: async (name, given) => toScope(await scopeCatalogue.set(operator, name, given)),
  delete: (name) => scopeCatalogue.delete(operator, name),
});

export const remoteScopes = (service: RemoteService): ScopeOperations => ({
  list: async () => (await service.request(adminListScopes)).scopes,
  async set(name, given) {
    // The request has all members. A change by another administrator in between is lost.
    const found = (await service.request(adminListScopes)).scopes.find((scope) => scope.name === name);
    const { description = '', entitled = false } = { ...found, ...given };
    return service.request(adminSetScope, { params: { name }, body: { description, entitled } });
  },
  delete: async (name) => void (await service.request(adminDeleteScope, { params: { name } })),
});
