/** Routes for administrators, the settings of service accounts, and the route that creates the first administrator. */
import * as contract from '@keyreeve/contract';
import type { Accounts } from '../accounts/accounts.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { OwnerOf } from '../api-keys/key-owner.ts';
import { toChangeRequest, toTime } from '../api-keys/key-request.ts';
import { toFullKey, toKey, toKeyDetails } from '../api-keys/key-view.ts';
import { Secret } from '../../foundation/crypto/secret.ts';
import { invalidAt } from '../../foundation/errors.ts';
import { route, type Call, type Route } from '../../http/route.ts';
import type { RouteResponse } from '../../http/response.ts';
import { toUsage } from '../key-usage/routes.ts';
import type { FactorAnswer } from '../second-factors/owner-proofs.ts';
import { toServiceAccount } from '../service-accounts/routes.ts';
import type { Entitlements } from '../scope-catalogue/entitlements.ts';
import type { TokenPairs } from '../tokens/token-pairs.ts';
import type { Administration } from './administration.ts';
import type { Directory } from './directory.ts';
import type { EmailSetting } from './email-setting.ts';
import type { FirstAdministrator } from './first-administrator.ts';
import type { CreatedKey, KeyCreation, Proof } from './key-creation.ts';
import type { KeyFinder } from './key-finder.ts';

export interface AdminParts {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly tokenPairs: TokenPairs;
  readonly administration: Administration;
  readonly directory: Directory;
  readonly emailSetting: EmailSetting;
  readonly entitlements: Entitlements;
  readonly firstAdministrator: FirstAdministrator;
  readonly keyCreation: KeyCreation;
  readonly keyFinder: KeyFinder;
}

export function adminRoutes(parts: AdminParts): readonly Route[] {
  const { accounts, administration, directory, emailSetting, entitlements } = parts;
  return [
    ...readingRoutes(parts),
    ...changeRoutes(parts),
    ...partRoutes(parts),
    route(contract.adminInviteAccount, async ({ principal, body: { email, role = 'user' } }) => {
      const id = await administration.invite(principal, email, role);
      return { status: 201, headers: ['Location', `/admin/accounts/${id}`], body: await directory.read(id) };
    }),
    route(contract.adminReportCompromised, async ({ principal, params: { id }, body }) => ({
      status: 200,
      body: await directory.change(id, () => administration.recoverAccount(principal, id, body)),
    })),
    route(contract.adminSetEmail, async ({ principal, params: { id }, body: { email } }) => ({
      status: 202,
      body: await directory.change(id, () => emailSetting.request(principal, id, email)),
    })),
    route(contract.adminSetEntitlements, async ({ principal, params: { id }, body }) => ({
      status: 200,
      body: await directory.change(id, () => entitlements.set(principal, id, body.entitlements)),
    })),
    route(contract.adminSetRole, async ({ principal, params: { id }, body: { role } }) => ({
      status: 200,
      body: await directory.change(id, () => accounts.setRole(principal, id, role)),
    })),
    route(contract.adminSetLimits, async ({ principal, params: { id }, body }) => ({
      status: 200,
      body: await directory.change(id, () => administration.setLimits(principal, id, body)),
    })),
    route(contract.adminDeleteAccount, async ({ principal, params: { id } }) => {
      await directory.confirmingAbsence(id, () => accounts.delete(principal, id));
      return { status: 200, body: { message: `Account ${id} has been deleted.` } };
    }),
  ];
}

/** What a management key sets for a service account that its account manages. */
export function serviceAccountSettingRoutes(
  { administration, directory, entitlements }: AdminParts,
  ownerOf: OwnerOf,
): readonly Route[] {
  return [
    route(contract.setServiceAccountLimits, async (call) => {
      const id = await ownerOf(call);
      const change = () => administration.setLimits(call.principal, id, call.body);
      const { limits, quotaUse } = await directory.change(id, change);
      return { status: 200, body: { limits, quotaUse } };
    }),
    route(contract.setServiceAccountEntitlements, async (call) => {
      const id = await ownerOf(call);
      const change = () => entitlements.set(call.principal, id, call.body.entitlements);
      return { status: 200, body: { entitlements: (await directory.change(id, change)).entitlements } };
    }),
  ];
}

/** Changes without parameters; the response is the changed account. */
function changeRoutes({ accounts, administration, directory }: AdminParts): readonly Route[] {
  type Change = typeof contract.adminDisableAccount;
  const change = (of: contract.RouteContract, apply: (call: Call<Change>, id: string) => Promise<void>): Route =>
    route(of as Change, async (call) => ({
      status: 200,
      body: await directory.change(call.params.id, () => apply(call, call.params.id)),
    }));
  return [
    change(contract.adminInviteAgain, ({ principal }, id) => administration.inviteAgain(principal, id)),
    change(contract.adminDisableAccount, ({ principal }, id) => accounts.disable(principal, id)),
    change(contract.adminEnableAccount, ({ principal }, id) => accounts.enable(principal, id)),
    change(contract.adminEndSessions, ({ principal }, id) => accounts.endSessions(principal, id)),
    change(contract.adminRevokeKeys, ({ principal }, id) => administration.revokeKeys(principal, id)),
    change(contract.adminResetPassword, ({ principal }, id) => administration.sendReset(principal, id)),
    change(contract.adminRequireSecondFactor, ({ principal }, id) => accounts.requireSecondFactor(principal, id, true)),
    change(contract.adminWaiveSecondFactor, ({ principal }, id) => accounts.requireSecondFactor(principal, id, false)),
    change(contract.adminRemoveSecondFactor, ({ principal, clientIp }, id) =>
      administration.removeSecondFactor(principal, id, clientIp),
    ),
  ];
}

/** Routes that change nothing, so they require no recent sign-in. */
function readingRoutes({ accounts, apiKeys, tokenPairs, directory }: AdminParts): readonly Route[] {
  return [
    route(contract.adminListAccounts, async ({ query }) => ({ status: 200, body: await directory.search(query) })),
    route(contract.adminGetAccount, async ({ params }) => ({ status: 200, body: await directory.read(params.id) })),
    route(contract.adminSearchKeys, async ({ query }) => {
      const owner = query.owner === undefined ? {} : { owner: await directory.idOf(query.owner) };
      const { keys, ...page } = await apiKeys.searchOwned({ ...query, ...owner });
      return { status: 200, body: { apiKeys: keys.map((key) => ({ ...toFullKey(key), owner: key.owner })), ...page } };
    }),
    route(contract.adminListKeys, async ({ params }) => {
      const { id } = await directory.read(params.id);
      return { status: 200, body: { apiKeys: (await apiKeys.list(id)).map(toFullKey) } };
    }),
    route(contract.adminListSessions, async ({ principal, params }) => {
      const { id } = await directory.confirmingAbsence(params.id, () => accounts.findPerson(params.id));
      return { status: 200, body: { sessions: await tokenPairs.listSessions({ ...principal, accountId: id }) } };
    }),
  ];
}

/** Routes for single API keys and sessions. */
function partRoutes({ administration, directory, keyCreation, keyFinder }: AdminParts): readonly Route[] {
  return [
    route(contract.adminCreateKey, async ({ principal, params, body, clientIp }) => {
      const { currentPassword, code, passkey, expiresAt, ...others } = body;
      const request = { ...others, expiresAt: toTime(expiresAt) };
      const proof = currentPassword === undefined ? undefined : proofOf({ currentPassword, code, passkey }, clientIp);
      const account = await directory.read(params.id);
      const create = () => keyCreation.create(principal, account, request, proof);
      const created = await directory.confirmingAbsence(account.id, create);
      return createdAt(account.id, created, toCreatedKey(created));
    }),
    route(contract.adminFindKey, async ({ principal, body }) => ({
      status: 200,
      body: await keyFinder.find(principal, body.key),
    })),
    route(contract.adminGetKey, async ({ params: { id, keyId } }) => ({
      status: 200,
      body: toKeyDetails(await directory.confirmingAbsence(id, () => administration.readKey(id, keyId))),
    })),
    route(contract.adminGetKeyUsage, async ({ params: { id, keyId }, query }) => {
      const list = () => administration.listUsage(id, keyId, query);
      return { status: 200, body: toUsage(await directory.confirmingAbsence(id, list)) };
    }),
    route(contract.adminGetKeyTokens, async ({ params: { id, keyId } }) => {
      const list = () => administration.listTokens(id, keyId);
      return { status: 200, body: await directory.confirmingAbsence(id, list) };
    }),
    route(contract.adminChangeKey, async ({ principal, params: { id, keyId }, body }) => {
      const change = () => administration.changeKey(principal, id, keyId, toChangeRequest(body));
      return { status: 200, body: toKeyDetails(await directory.confirmingAbsence(id, change)) };
    }),
    route(contract.adminDeleteKey, async ({ principal, params: { id, keyId } }) => {
      await directory.confirmingAbsence(id, () => administration.deleteKey(principal, id, keyId));
      return { status: 200, body: { message: `API key ${keyId} has been deleted.` } };
    }),
    route(contract.adminEndSession, async ({ principal, params: { id, sessionId } }) => {
      await directory.confirmingAbsence(id, () => administration.endSession(principal, id, sessionId));
      return { status: 200, body: { message: 'The session has ended.' } };
    }),
  ];
}

/** Only if the operator permits it. */
export const managementKeyRoutes = (keyCreation: KeyCreation): readonly Route[] => [
  route(contract.adminCreateManagementKey, async ({ principal, body, clientIp }) => {
    const { nickname, addresses, expiresAt } = body;
    const request = { owner: targetOf(body), nickname, addresses, expiresAt: Date.parse(expiresAt) };
    const created = await keyCreation.createManagementKey(principal, request, proofOf(body, clientIp));
    const serviceAccount = toServiceAccount(created.serviceAccount);
    return createdAt(serviceAccount.id, created, { serviceAccount, apiKey: toCreatedKey(created) });
  }),
];

/** @throws DomainError `invalid_request` unless the body has either a name or the id of an account */
function targetOf({ name, accountId }: contract.NewManagementKeyBody): { name: string } | { accountId: string } {
  if (name !== undefined && accountId === undefined) return { name };
  if (accountId !== undefined && name === undefined) return { accountId };
  throw invalidAt('/name', 'Expected either `name` or `accountId`.');
}

const proofOf = (
  { currentPassword, code, passkey }: FactorAnswer & { readonly currentPassword: string },
  clientIp: string,
): Proof => ({ currentPassword: new Secret(currentPassword), code, passkey, clientIp });

const createdAt = (accountId: string, { key }: CreatedKey, body: object): RouteResponse => ({
  status: 201,
  headers: ['Location', `/admin/accounts/${accountId}/api-keys/${key.id}`],
  body,
});

function toCreatedKey({ key, secret }: CreatedKey): contract.CreatedKey {
  const { id, nickname, createdAt: at, updatedAt } = toKey(key);
  return { id, nickname, key: secret.reveal(), createdAt: at, updatedAt };
}

/** The route for a client that has a code and no account. */
export const firstAdministratorRoutes = (first: FirstAdministrator): readonly Route[] => [
  route(contract.createFirstAdministrator, async ({ body: { code, email, password } }) => ({
    status: 201,
    body: await first.create(code, email, new Secret(password)),
  })),
];
