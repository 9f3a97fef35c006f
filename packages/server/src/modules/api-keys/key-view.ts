/** API keys in responses and in the output of the command line. */
import type { KeyDetails, ListedKey, ListedKeyFull, RotatedKey, RotatedPublicKey } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import type { KeyDetailsRow } from './change-store.ts';
import type { Rotation, ShownKey } from './changes.ts';
import { toShownIdentity } from './client-identity.ts';
import type { Environments } from './environments.ts';
import { endOfPrevious } from './expiry.ts';
import { toLimits } from '../key-limits/definition.ts';
import { withoutWithheld } from '../scope-catalogue/withheld.ts';
import { scopesInForce, splitScopes } from './scopes.ts';
import type { KeyRow } from './store.ts';
import type { StoredUse } from './use-store.ts';

/** A key with the scopes that are in force. */
export interface ApiKey extends Omit<KeyRow, 'scopes' | 'needsRole' | 'ownerRole'> {
  readonly scopes: readonly string[];
  /** The name of the environment; null if none is configured. */
  readonly environment: string | null;
  readonly lastUsedAt: number | null;
}

/** A key as lists read it. */
export type UsedKeyRow = KeyRow & { readonly lastUsedAt: StoredUse['lastUsedAt'] | null };

/** A key and the account that it belongs to. */
export interface OwnedKey extends ApiKey {
  readonly owner: { readonly id: string; readonly email: string | null; readonly name: string | null };
}

/** @param withheld those of its scopes that are not in force, separated by spaces */
export const toApiKey = (row: UsedKeyRow, withheld: string | undefined, environments: Environments): ApiKey => ({
  id: row.id,
  nickname: row.nickname,
  scopes: splitScopes(withoutWithheld(scopesInForce(row.scopes, row.needsRole === 1, row.ownerRole), withheld)),
  expiresAt: row.expiresAt,
  disabledAt: row.disabledAt,
  disabledReason: row.disabledReason,
  leakedAt: row.leakedAt,
  hint: row.hint,
  publicKey: row.publicKey,
  trust: row.trust,
  issuerId: row.issuerId,
  hasIssuer: row.hasIssuer,
  environment: environments.nameOf(row.environment) ?? null,
  lastUsedAt: row.lastUsedAt,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

export const toKey = ({ id, nickname, createdAt, updatedAt }: ApiKey): ListedKey => ({
  id,
  nickname,
  createdAt: toInstant(createdAt),
  updatedAt: toInstant(updatedAt),
});

export const toFullKey = (key: ApiKey): ListedKeyFull => ({
  ...toKey(key),
  scopes: [...key.scopes],
  expiresAt: toInstantOrNull(key.expiresAt),
  disabledAt: toInstantOrNull(key.disabledAt),
  disabledReason: key.disabledReason,
  leakedAt: toInstantOrNull(key.leakedAt),
  environment: key.environment,
  hint: key.hint,
  ...toShownIdentity(key),
  lastUsedAt: toInstantOrNull(key.lastUsedAt),
});

export const toKeyDetails = (row: ShownKey): KeyDetails => ({
  id: row.id,
  nickname: row.nickname,
  createdAt: toInstant(row.createdAt),
  updatedAt: toInstant(row.updatedAt),
  scopes: splitScopes(withoutWithheld(scopesInForce(row.scopes, row.needsRole === 1, row.ownerRole), row.withheld)),
  expiresAt: toInstantOrNull(row.expiresAt),
  disabledAt: toInstantOrNull(row.disabledAt),
  disabledReason: row.disabledReason,
  leakedAt: toInstantOrNull(row.leakedAt),
  environment: row.environment,
  hint: row.hint,
  ...toShownIdentity(row),
  addresses: row.addresses === null ? null : row.addresses.split(' '),
  limits: toLimits(row.limits),
  quotaUse: row.quotaUse,
  metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>),
  lastUsedAt: toInstantOrNull(row.lastUsedAt),
  lastUsedFrom: row.lastUsedFrom,
  previous: toPrevious(row),
});

function toPrevious({ expiresAt, previousExpiresAt, previousLastUsedAt }: ShownKey): KeyDetails['previous'] {
  if (previousExpiresAt === null) return null;
  const end = toInstant(endOfPrevious(previousExpiresAt, expiresAt));
  return { expiresAt: end, lastUsedAt: toInstantOrNull(previousLastUsedAt) };
}

/** The response to a rotation, the only one with the new secret. */
export const toRotatedKey = ({ key, secret }: Rotation): RotatedKey => {
  const { id, nickname, ...times } = toRotatedPublicKey(key);
  return { id, nickname, key: secret.reveal(), ...times };
};

/** The response to the rotation of a public key or a trust. */
export const toRotatedPublicKey = (key: KeyDetailsRow): RotatedPublicKey => ({
  id: key.id,
  nickname: key.nickname,
  createdAt: toInstant(key.createdAt),
  updatedAt: toInstant(key.updatedAt),
  previousExpiresAt: toInstantOrNull(key.previousExpiresAt),
});

const toInstantOrNull = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));
