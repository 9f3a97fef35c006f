/**
 * Repeats changes that the deletion journal records and a restored database has lost. The owners of the tables make the
 * changes; each change has its audit event, by the service itself.
 */
import { clearEntitlementsTx } from '../accounts/entitlement-store.ts';
import {
  deleteAccountsTx,
  disableAccountsTx,
  removeAdministratorRolesTx,
  requireSecondFactorsTx,
  unconfirmEmailsTx,
  voidPasswordsTx,
} from '../accounts/replay-store.ts';
import { deleteKeysTx, disableKeysTx, endPreviousOfKeysTx, rememberMissingTx } from '../api-keys/bulk-store.ts';
import { appliedProgramId, raiseGenerationTx, rememberDeletionsTx } from '../apply/store.ts';
import { endLeakedSecretsTx, rememberLeakedSecretsTx } from '../leaks/replay.ts';
import { recordEventsTx, type AuditAction, type AuditDetails } from '../audit/audit.ts';
import type { ChangeKind, FinalKind } from '../deletion-journal/revocation.ts';
import { findListed, findLostChanges, type FoundChange } from '../deletion-journal/store.ts';
import { removeIssuersTx, voidIssuersTx } from '../issuers/store.ts';
import { removePasskeysTx } from '../passkeys/replay-store.ts';
import {
  removeAppsTx,
  removeReplacedCodesTx,
  removeSecondFactorsTx,
  removeUsedCodesTx,
} from '../second-factors/replay-store.ts';
import { removeProgramsTx, voidProgramsTx } from '../programs/store.ts';
import { deleteScopesTx, markScopesTx } from '../scope-catalogue/store.ts';
import { removeManagersTx } from '../service-accounts/store.ts';
import { unlinkIdentitiesTx } from '../single-sign-on/replay-store.ts';
import { revokeSigningKeysTx } from '../signing-keys/store.ts';
import { deleteEndpointsTx, disableEndpointsTx } from '../webhooks/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { DatedId } from '../../foundation/database/json-lists.ts';
import { system } from '../../foundation/principal.ts';

interface Deletion {
  readonly action: AuditAction;
  /** Applies to all recorded deletions, also of what the database does not have: it must not be created again. */
  readonly always?: (tx: Transaction, ids: readonly string[], now: number) => Promise<void>;
  readonly apply: (tx: Transaction, ids: readonly string[], now: number) => Promise<void>;
}

const deletions: Readonly<Record<FinalKind | 'account_disabled', Deletion>> = {
  api_key: { action: 'api_key.deleted', apply: deleteKeysTx, always: rememberMissingTx },
  account: { action: 'account.deleted', apply: deleteAccountsTx, always: rememberDeletionsTx },
  account_disabled: { action: 'account.disabled', apply: disableAccountsTx },
  signing_key: { action: 'signing_key.revoked', apply: revokeSigningKeysTx },
};

const by = 'deletion_journal';

/** @returns how many of the ids still worked */
export async function repeatDeletionsTx(
  tx: Transaction,
  kind: keyof typeof deletions,
  ids: readonly string[],
  now: number,
): Promise<number> {
  const { action, apply, always } = deletions[kind];
  const found = await findListed(tx, kind, ids);
  await always?.(tx, ids, now);
  if (found.length === 0) return 0;
  await apply(
    tx,
    found.map(({ target }) => target),
    now,
  );
  await recordEventsTx(
    tx,
    found.map(({ accountId, target }) => ({
      at: now,
      principal: system,
      action,
      ...(accountId === null ? {} : { accountId }),
      target,
      details: { by },
    })),
  );
  return found.length;
}

interface Change {
  readonly action: AuditAction;
  readonly apply: (tx: Transaction, changes: readonly DatedId[], now: number) => Promise<void>;
  readonly details?: AuditDetails;
  /** Applies to all recorded changes, also to those that the database has. */
  readonly always?: (tx: Transaction, recorded: readonly DatedId[], now: number) => void | Promise<void>;
}

const idsOf = (changes: readonly DatedId[]): string[] => changes.map(({ id }) => id);

const changes: Readonly<Record<ChangeKind, Change>> = {
  role_removed: {
    action: 'account.role_changed',
    apply: (tx, list, now) => removeAdministratorRolesTx(tx, idsOf(list), now),
    details: { role: 'user' },
  },
  password_changed: {
    action: 'account.password_voided',
    apply: (tx, list, now) => voidPasswordsTx(tx, idsOf(list), now),
  },
  email_changed: {
    action: 'account.email_confirmation_required',
    apply: (tx, list, now) => unconfirmEmailsTx(tx, idsOf(list), now),
  },
  second_factor_removed: { action: 'second_factor.removed', apply: removeSecondFactorsTx },
  recovery_codes_replaced: { action: 'recovery_codes.replaced', apply: removeReplacedCodesTx },
  recovery_code_used: { action: 'recovery_code.used', apply: (tx, list) => removeUsedCodesTx(tx, idsOf(list)) },
  second_factor_required: {
    action: 'account.second_factor_required',
    apply: (tx, list, now) => requireSecondFactorsTx(tx, idsOf(list), now),
  },
  webhook_disabled: {
    action: 'webhook.disabled',
    apply: (tx, list, now) => disableEndpointsTx(tx, idsOf(list), now),
  },
  webhook_deleted: {
    action: 'webhook.deleted',
    apply: (tx, list) => deleteEndpointsTx(tx, idsOf(list)),
    always: (tx, list, now) => rememberDeletionsTx(tx, idsOf(list), now),
  },
  api_key_narrowed: {
    action: 'api_key.disabled',
    // The previous secret may be one that has been ended.
    apply: async (tx, list, now) => {
      await disableKeysTx(tx, list, 'restore', now);
      await endPreviousOfKeysTx(tx, idsOf(list));
    },
    details: { reason: 'restore' },
  },
  api_key_disabled_by_administrator: {
    action: 'api_key.disabled',
    apply: (tx, list, now) => disableKeysTx(tx, list, 'administrator', now),
    details: { reason: 'administrator' },
  },
  // The journal has no names of entitlements, so the account loses all of them.
  entitlements_removed: {
    action: 'account.entitlements_set',
    apply: (tx, list, now) => clearEntitlementsTx(tx, idsOf(list), now),
    details: { entitlements: [] },
  },
  scope_entitled: { action: 'scope.set', apply: markScopesTx, details: { entitled: 1 } },
  scope_deleted: { action: 'scope.deleted', apply: deleteScopesTx },
  // Also the last one: administrators can add another.
  manager_removed: { action: 'service_account.manager_removed', apply: removeManagersTx },
  authenticator_removed: { action: 'authenticator.removed', apply: removeAppsTx },
  passkey_removed: { action: 'passkey.removed', apply: (tx, list) => removePasskeysTx(tx, idsOf(list)) },
  identity_unlinked: { action: 'identity.unlinked', apply: (tx, list) => unlinkIdentitiesTx(tx, idsOf(list)) },
  file_applied: {
    action: 'installation.file_applied',
    apply: (tx, list, now) => raiseGenerationTx(tx, idsOf(list), now),
  },
  // The journal has no settings, so the program can get no approval until an administrator sets them.
  program_narrowed: {
    action: 'program.updated',
    apply: voidProgramsTx,
    details: { narrowed: ['scopes', 'lifetimeSeconds'] },
  },
  program_removed: {
    action: 'program.removed',
    apply: removeProgramsTx,
    always: (tx, list, now) => rememberDeletionsTx(tx, idsOf(list).map(appliedProgramId), now),
  },
  // The journal has no settings of issuers, so a restored one accepts no token until its algorithms are stated again.
  issuer_narrowed: {
    action: 'issuer.updated',
    apply: voidIssuersTx,
    details: { narrowed: ['algorithms'], after: { algorithms: [] } },
  },
  issuer_removed: {
    action: 'issuer.removed',
    apply: removeIssuersTx,
    always: (tx, list, now) => rememberDeletionsTx(tx, idsOf(list), now),
  },
  secret_leaked: { action: 'api_key.leaked', apply: endLeakedSecretsTx, always: rememberLeakedSecretsTx },
};

/** @returns the account of each repeated change, or its webhook endpoint, by their ids */
export async function repeatChangesTx(
  tx: Transaction,
  kind: ChangeKind,
  recorded: readonly DatedId[],
  now: number,
): Promise<string[]> {
  const { action, apply, details, always } = changes[kind];
  await always?.(tx, recorded, now);
  const found = await findLostChanges(tx, kind, recorded);
  if (found.length === 0) return [];
  await apply(
    tx,
    found.map(({ id, at }) => ({ id, at })),
    now,
  );
  await recordEventsTx(
    tx,
    found.map(({ accountId, target, id, at, secret }) => ({
      // Later than the repeated change, whatever this machine's clock: the event shows that it has been repeated.
      at: Math.max(now, at + 1),
      principal: system,
      action,
      ...(accountId === null ? {} : { accountId }),
      ...(target === null ? {} : { target }),
      details: { by, ...identifying(kind, id, secret), ...details },
    })),
  );
  return found.flatMap(({ accountId, target }) => accountId ?? target ?? []);
}

/** What the event says about an entry whose id is not the one of a row. */
function identifying(kind: ChangeKind, id: string, secret: FoundChange['secret']): AuditDetails {
  if (kind === 'recovery_code_used') return { code: id };
  return kind === 'secret_leaked' ? { secret, hash: id } : {};
}
