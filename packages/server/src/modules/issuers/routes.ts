/** HTTP routes of issuers of identity tokens. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { numberIdOf } from '../../foundation/number-id.ts';
import { route, type Route } from '../../http/route.ts';
import { settingsOf } from './issuer.ts';
import type { CountedIssuerRow, Issuers } from './issuers.ts';

export const issuerRoutes = (issuers: Issuers): readonly Route[] => [
  route(contract.listServiceAccountIssuers, async ({ principal, params: { accountId } }) => ({
    status: 200,
    body: { issuers: (await issuers.list(principal, accountId)).map(toIssuer) },
  })),
  route(contract.addServiceAccountIssuer, async ({ principal, params: { accountId }, body }) => {
    const added = await issuers.add(principal, accountId, body);
    const location = `/auth/service-accounts/${accountId}/issuers/${added.id}`;
    return { status: 201, headers: ['Location', location], body: toIssuer(added) };
  }),
  route(contract.getServiceAccountIssuer, async ({ principal, params: { accountId, id } }) => ({
    status: 200,
    body: toIssuer(await issuers.find(principal, { id: issuerIdOf(id), accountId })),
  })),
  route(contract.changeServiceAccountIssuer, async ({ principal, params: { accountId, id }, body }) => ({
    status: 200,
    body: toIssuer(await issuers.change(principal, { id: issuerIdOf(id), accountId }, body)),
  })),
  route(contract.removeServiceAccountIssuer, async ({ principal, params: { accountId, id } }) => ({
    status: 200,
    body: { message: removalMessage(await issuers.remove(principal, { id: issuerIdOf(id), accountId })) },
  })),
];

export const issuerAdminRoutes = (issuers: Issuers): readonly Route[] => [
  route(contract.adminListIssuers, async ({ principal, query: { accountId = null } }) => ({
    status: 200,
    body: { issuers: (await issuers.list(principal, accountId)).map(toIssuer) },
  })),
  route(contract.adminAddIssuer, async ({ principal, body: { accountId = null, ...request } }) => {
    const added = await issuers.add(principal, accountId, request);
    return { status: 201, headers: ['Location', `/admin/issuers/${added.id}`], body: toIssuer(added) };
  }),
  route(contract.adminGetIssuer, async ({ principal, params: { id } }) => ({
    status: 200,
    body: toIssuer(await issuers.find(principal, { id: issuerIdOf(id) })),
  })),
  route(contract.adminChangeIssuer, async ({ principal, params: { id }, body }) => ({
    status: 200,
    body: toIssuer(await issuers.change(principal, { id: issuerIdOf(id) }, body)),
  })),
  route(contract.adminRemoveIssuer, async ({ principal, params: { id } }) => ({
    status: 200,
    body: { message: removalMessage(await issuers.remove(principal, { id: issuerIdOf(id) })) },
  })),
  route(contract.adminRefreshIssuer, async ({ principal, params: { id } }) => ({
    status: 200,
    body: await issuers.refresh(principal, issuerIdOf(id)),
  })),
];

/** @throws DomainError `issuer_not_found` for a text that is no id */
export function issuerIdOf(text: string): number {
  const id = numberIdOf(text);
  if (id === undefined) throw new DomainError('issuer_not_found');
  return id;
}

export const removalMessage = ({ url, keyCount }: Pick<CountedIssuerRow, 'url' | 'keyCount'>): string =>
  `The issuer ${url} has been removed. ${keyCount === 0 ? 'No key trusted it.' : `Keys that trusted it: ${keyCount}.`}`;

export const toIssuer = (row: CountedIssuerRow): contract.Issuer => {
  const { jwks, ...settings } = settingsOf(row);
  return {
    id: row.id,
    url: row.url,
    preset: row.preset as contract.IssuerPresetName | null,
    ...(row.accountId === null ? {} : { accountId: row.accountId }),
    algorithms: [...settings.algorithms],
    lifetimeSeconds: settings.lifetimeSeconds,
    replay: settings.replay,
    idClaims: [...settings.idClaims],
    listClaims: [...settings.listClaims],
    ...(jwks ? { jwks: { keys: [...jwks.keys] } } : {}),
    keys: row.keyCount,
    createdAt: toInstant(row.createdAt),
    updatedAt: toInstant(row.updatedAt),
  };
};
