/** What `keyreeve apply` does with an entry of each kind: how it finds, creates, changes and deletes the object. */
import type { KeyLimits } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import type { Act } from '../../foundation/principal.ts';
import type { AccountRevocations } from '../accounts/account-revocations.ts';
import type { Administration } from '../administration/administration.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { KeyChanges } from '../api-keys/changes.ts';
import { deleteKeyTx } from '../api-keys/deletion-store.ts';
import { toTime } from '../api-keys/key-request.ts';
import { keyDeletions, type Revocation } from '../deletion-journal/revocation.ts';
import type { Issuers } from '../issuers/issuers.ts';
import { findIssuer } from '../issuers/store.ts';
import { setEntitlementsTx } from '../scope-catalogue/entitlements.ts';
import type { Programs } from '../programs/programs.ts';
import { findProgram } from '../programs/store.ts';
import { deleteScopeTx, setScopeTx } from '../scope-catalogue/scope-catalogue.ts';
import { findScope } from '../scope-catalogue/store.ts';
import type { ServiceAccounts } from '../service-accounts/service-accounts.ts';
import type { Endpoints } from '../webhooks/endpoints.ts';
import { deleteEndpointTx, lockEndpointTx } from '../webhooks/store.ts';
import type { EntryKind, EntryOf } from './file.ts';
import * as store from './store.ts';

export interface ObjectServices {
  readonly accounts: AccountRevocations;
  readonly administration: Administration;
  readonly apiKeys: ApiKeys;
  readonly endpoints: Endpoints;
  readonly issuers: Issuers;
  readonly keyChanges: KeyChanges;
  readonly programs: Programs;
  readonly serviceAccounts: ServiceAccounts;
}

/** The transaction, the principal and time of its changes, and what follows from them. */
export interface Run extends Act {
  readonly tx: Transaction;
  readonly services: ObjectServices;
  /** Entries of the deletion journal. */
  readonly recorded: Revocation[];
  /** Called after the commit. */
  readonly afterCommit: Set<() => void>;
  /** Ids of the service accounts of the file, by name. Those that were deleted are missing. */
  readonly owners: Map<string, string>;
}

/** Whether an object exists. `deleted`: it has existed, and must not be created again. */
export type State = 'exists' | 'missing' | 'deleted';

interface Kind<Name extends EntryKind> {
  /** @param target the id of the object */
  readonly stateOf: (run: Run, target: string) => Promise<State>;
  readonly create: (run: Run, entry: EntryOf<Name>, target: string) => Promise<void>;
  /** Sets what the entry states. @returns the names of the members that had other values */
  readonly change: (run: Run, entry: EntryOf<Name>, target: string) => Promise<readonly string[]>;
  readonly remove: (run: Run, target: string) => Promise<void>;
}

const existing = (exists: boolean): State => (exists ? 'exists' : 'missing');

const scope: Kind<'scope'> = {
  stateOf: async ({ tx }, name) => {
    const row = await findScope(tx, name);
    return row && row.deletedAt !== null ? 'deleted' : existing(row !== undefined);
  },
  create: async (run, { given }) => void (await setScope(run, given)),
  change: async (run, { given }) => ((await setScope(run, given)) ? ['scope'] : []),
  remove: async ({ tx, recorded, principal, now }, name) => {
    recorded.push(...(await deleteScopeTx(tx, { principal, now }, name)).recorded);
  },
};

async function setScope(
  { tx, recorded, principal, now }: Run,
  { name, description, entitled }: EntryOf<'scope'>['given'],
): Promise<boolean> {
  const given = {
    ...(description === undefined ? {} : { description }),
    ...(entitled === undefined ? {} : { entitled }),
  };
  const made = await setScopeTx(tx, { principal, now }, name, given);
  recorded.push(...made.recorded);
  return made.isChanged;
}

const removeAccount = async ({ tx, services, recorded, principal, now }: Run, id: string): Promise<void> => {
  recorded.push(...(await services.accounts.deleteTx(tx, { principal, now }, id)));
};

const account: Kind<'account'> = {
  stateOf: async ({ tx }, id) => existing(await store.hasAccount(tx, id, 'person')),
  async create(run, { given }, id) {
    const { tx, services, principal, now, afterCommit } = run;
    const { administration } = services;
    await administration.prepareInvitation({ principal, now }, id, given.email, given.role ?? 'user')(tx);
    afterCommit.add(() => administration.sendSoon());
    await changeAccount(run, given, id);
  },
  change: (run, { given }, id) => changeAccount(run, given, id),
  remove: removeAccount,
};

const serviceAccount: Kind<'service_account'> = {
  stateOf: async ({ tx }, id) => existing(await store.hasAccount(tx, id, 'service')),
  async create(run, { given, name }, id) {
    const { tx, services, principal, now } = run;
    await services.serviceAccounts.createUnmanagedTx(tx, { principal, now }, id, name);
    await changeAccount(run, given, id);
  },
  change: (run, { given }, id) => changeAccount(run, given, id),
  remove: removeAccount,
};

async function changeAccount(
  { tx, services, recorded, principal, now }: Run,
  given: { readonly entitlements?: readonly string[]; readonly limits?: KeyLimits },
  id: string,
): Promise<string[]> {
  const changed: string[] = [];
  if (given.entitlements) {
    const made = await setEntitlementsTx(tx, { principal, now }, id, given.entitlements);
    recorded.push(...made.recorded);
    if (made.isChanged) changed.push('entitlements');
  }
  if (given.limits && (await services.administration.prepareLimits({ principal, now }, id, given.limits)(tx)))
    changed.push('limits');
  return changed;
}

const issuer: Kind<'issuer'> = {
  stateOf: async ({ tx }, id) => existing((await findIssuer(tx, Number(id))) !== undefined),
  async create({ tx, services, principal, now }, { given: { state: _state, jwks, ...given } }, target) {
    const request = jwks ? { ...given, jwks } : given;
    await services.issuers.prepare({ principal, now }, { id: Number(target), accountId: null }, request)(tx);
  },
  async change({ tx, services, principal, now, recorded }, { given }, target) {
    const { state: _state, url: _url, preset, ...settings } = given;
    const made = await services.issuers.changeTx(tx, { principal, now }, { id: Number(target) }, settings);
    const { preset: stored } = made.before;
    if (preset !== undefined && preset !== stored)
      throw invalidAt(
        '/preset',
        `The issuer was added with ${stored === null ? 'no preset' : `the preset ${stored}`}, which a file cannot change. State its settings instead.`,
      );
    recorded.push(...made.recorded);
    return made.changed;
  },
  async remove({ tx, services, principal, now, recorded }, target) {
    recorded.push(...(await services.issuers.removeTx(tx, { principal, now }, { id: Number(target) })).recorded);
  },
};

const key: Kind<'key'> = {
  async stateOf({ tx, recorded }, id) {
    if (await store.findAppliedKey(tx, Number(id))) return 'exists';
    // With its account: the transaction stores its events at the end.
    if (recorded.some((one) => one.kind === 'api_key' && one.id === id)) return 'deleted';
    return (await store.wasKeyDeleted(tx, Number(id))) ? 'deleted' : 'missing';
  },
  async create({ tx, services, principal, owners, afterCommit }, { given }) {
    const { sha256, serviceAccount: owner = '', nickname = '', scopes, addresses, limits } = given;
    const expiresAt = toTime(given.expiresAt);
    const request = {
      nickname,
      ...(scopes ? { scopes } : {}),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(addresses ? { addresses } : {}),
      ...(limits ? { limits } : {}),
    };
    const ownerId = owners.get(owner.normalize('NFC')) ?? '';
    const { storeTx, onStored } = services.apiKeys.prepareWithHash(principal, ownerId, request, sha256);
    await storeTx(tx);
    afterCommit.add(onStored);
  },
  async change({ tx, services, principal, now, owners, recorded }, { given }, target) {
    const id = Number(target);
    const { serviceAccount: owner = '', nickname, scopes, addresses, limits } = given;
    const found = await store.findAppliedKey(tx, id);
    const accountId = owners.get(owner.normalize('NFC'));
    if (!found || found.ownerId !== accountId)
      throw new DomainError('secret_taken', { detail: 'A key of another account has this secret.' });
    const expiresAt = toTime(given.expiresAt);
    const request = {
      ...(nickname === undefined ? {} : { nickname }),
      ...(scopes ? { scopes } : {}),
      // An expiry that has passed can stay, and cannot be set.
      ...(expiresAt === undefined || expiresAt === found.expiresAt ? {} : { expiresAt }),
      ...(addresses === undefined ? {} : { addresses }),
      ...(limits ? { limits: { rate: null, quota: null, ...limits } } : {}),
    };
    const made = await services.keyChanges.changeTx(tx, { principal, now }, { accountId, id }, request);
    recorded.push(...made.recorded);
    return made.changed;
  },
  async remove({ tx, principal, now, recorded }, target) {
    const id = Number(target);
    const { ownerId } = (await store.findAppliedKey(tx, id)) ?? { ownerId: '' };
    await deleteKeyTx(tx, { principal, now }, ownerId, id);
    recorded.push(...keyDeletions([id], now));
  },
};

const webhook: Kind<'webhook'> = {
  stateOf: async ({ tx }, id) => existing((await lockEndpointTx(tx, id)) !== undefined),
  create: ({ tx, services, principal, now }, entry, id) =>
    services.endpoints.prepare({ principal, now }, declared(entry, id)).storeTx(tx),
  async change({ tx, services, principal, now, recorded }, entry, id) {
    const made = await services.endpoints.changeTx(tx, { principal, now }, declared(entry, id));
    recorded.push(...made.recorded);
    return made.changed;
  },
  async remove({ tx, principal, now, recorded }, id) {
    await deleteEndpointTx(tx, { principal, now }, id);
    recorded.push({ kind: 'webhook_deleted', id, at: now });
  },
};

function declared({ given: { url = '', events = [] }, secret }: EntryOf<'webhook'>, id: string) {
  // `file.ts` has read it.
  if (!secret) throw new DomainError('invalid_request');
  return { id, url, events, secret };
}

const program: Kind<'program'> = {
  stateOf: async ({ tx }, id) => existing((await findProgram(tx, id)) !== undefined),
  async create({ tx, services, principal, now }, { given: { state: _state, name = '', ...settings } }) {
    await services.programs.prepare({ principal, now }, { ...settings, name })(tx);
  },
  async change({ tx, services, principal, now, recorded }, { given: { state: _state, id, ...settings } }) {
    const made = await services.programs.changeTx(tx, { principal, now }, id, settings);
    recorded.push(...made.recorded);
    return made.changed;
  },
  async remove({ tx, services, principal, now, recorded }, id) {
    recorded.push(...(await services.programs.removeTx(tx, { principal, now }, id)));
  },
};

export const kinds: { readonly [Name in EntryKind]: Kind<Name> } = {
  scope,
  account,
  service_account: serviceAccount,
  issuer,
  key,
  webhook,
  program,
};
