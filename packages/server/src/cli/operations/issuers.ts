/** Issuers of identity tokens. */
import {
  adminAddIssuer,
  adminChangeIssuer,
  adminGetIssuer,
  adminListIssuers,
  adminRefreshIssuer,
  adminRemoveIssuer,
  type AdminNewIssuerBody,
  type Issuer,
  type IssuerChangeBody,
  type IssuerKeySet,
} from '@keyreeve/contract';
import { issuerIdOf, toIssuer } from '../../modules/issuers/routes.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import { operator, type CommandContext } from '../session.ts';

export interface IssuerOperations {
  add(issuer: AdminNewIssuerBody): Promise<Issuer>;
  /** @param accountId of a service account; undefined: those that the keys of all accounts may trust */
  list(accountId: string | undefined): Promise<readonly Issuer[]>;
  find(id: string): Promise<Issuer>;
  change(id: string, change: IssuerChangeBody): Promise<Issuer>;
  /** @returns the removed issuer */
  remove(id: string): Promise<Issuer>;
  refresh(id: string): Promise<IssuerKeySet>;
}

export const localIssuers = ({ issuers }: CommandContext): IssuerOperations => ({
  add: async ({ accountId = null, ...request }) => toIssuer(await issuers.add(operator, accountId, request)),
  list: async (accountId) => (await issuers.list(operator, accountId ?? null)).map(toIssuer),
  find: async (id) => toIssuer(await issuers.find(operator, { id: issuerIdOf(id) })),
  change: async (id, change) => toIssuer(await issuers.change(operator, { id: issuerIdOf(id) }, change)),
  remove: async (id) => toIssuer(await issuers.remove(operator, { id: issuerIdOf(id) })),
  refresh: (id) => issuers.refresh(operator, issuerIdOf(id)),
});

export const remoteIssuers = (service: RemoteService): IssuerOperations => ({
  add: (body) => service.request(adminAddIssuer, { body }),
  list: async (accountId) =>
    (await service.request(adminListIssuers, accountId === undefined ? {} : { query: { accountId } })).issuers,
  find: (id) => service.request(adminGetIssuer, { params: { id } }),
  change: (id, body) => service.request(adminChangeIssuer, { params: { id }, body }),
  async remove(id) {
    const issuer = await service.request(adminGetIssuer, { params: { id } });
    await service.request(adminRemoveIssuer, { params: { id } });
    return issuer;
  },
  refresh: (id) => service.request(adminRefreshIssuer, { params: { id } }),
});
