/** API keys: what commands do with them, and how on the database. `remote-keys.ts` has the other form. */
import type { KeyDetails, KeyUsage, ListedKey, ListedKeyFull, RotatedPublicKey, UsageQuery } from '@keyreeve/contract';
import { assertEnvironments } from '../../app/installation/environments-check.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { KeyRequest } from '../../modules/api-keys/api-keys.ts';
import { nameOfKind, type GivenIdentity } from '../../modules/api-keys/client-identity.ts';
import { keyIdOf, type KeyChangeRequest, type RotationRequest } from '../../modules/api-keys/key-request.ts';
import { toFullKey, toKeyDetails, toRotatedPublicKey } from '../../modules/api-keys/key-view.ts';
import type { RecentUse } from '../../modules/key-usage/key-usage.ts';
import { toUsage } from '../../modules/key-usage/routes.ts';
import { operator, type CommandContext } from '../session.ts';

/** A key and the id of the account that owns it. */
export interface NamedKey {
  readonly id: number;
  readonly owner: string;
}

export interface KeyOwner {
  readonly id: string;
  /** The id for a service account. */
  readonly email: string;
}

/** What verifies the key, unless the service makes a secret. */
export interface GivenCredential extends GivenIdentity {
  /** Of a secret, in hexadecimal. */
  readonly sha256?: string | undefined;
}

export type CreatedKey = Pick<ListedKey, 'id' | 'nickname' | 'createdAt' | 'updatedAt'> &
  Partial<Pick<ListedKeyFull, 'scopes' | 'expiresAt' | 'environment'>> & { readonly key: string | undefined };

export interface ChangedKey {
  readonly details: KeyDetails;
  /** Whether the key had other values. */
  readonly isChanged: boolean;
}

export type RotatedKey = RotatedPublicKey & { readonly key: string | undefined; readonly isDisabled: boolean };

export interface KeyOperations {
  /** @throws DomainError `account_not_found` */
  owner(idOrEmail: string): Promise<KeyOwner>;
  /**
   * @param account id or email address of the owner, if the command names it
   * @throws DomainError `key_not_found`, also for a text that is not an id, `not_key_owner`
   */
  find(idText: string, account: string | undefined): Promise<NamedKey>;
  list(owner: string): Promise<readonly ListedKeyFull[]>;
  read(key: NamedKey): Promise<KeyDetails>;
  /** @returns undefined if it is not known */
  recentUse(key: NamedKey): Promise<RecentUse | undefined>;
  usage(key: NamedKey, query: UsageQuery): Promise<KeyUsage>;
  create(owner: string, request: KeyRequest, given: GivenCredential): Promise<CreatedKey>;
  change(key: NamedKey, request: KeyChangeRequest): Promise<ChangedKey>;
  /** @param given the new public key or trust of a key that has one */
  rotate(key: NamedKey, request: RotationRequest, given: GivenIdentity): Promise<RotatedKey>;
  /** @returns what has ended, such as `public key` */
  endPrevious(key: NamedKey): Promise<{ readonly kind: string }>;
  delete(key: NamedKey): Promise<void>;
}

/** Whether a public key or a trust is given. */
export const isIdentity = ({ publicKey, trust }: GivenIdentity): boolean =>
  publicKey !== undefined || trust !== undefined;

/** @param owner of the account that the command names @throws DomainError `not_key_owner` */
export function assertOwned(key: NamedKey, owner: string | undefined): NamedKey {
  if (owner === undefined || owner === key.owner) return key;
  throw new DomainError('not_key_owner', { detail: `API key ${key.id} belongs to a different account.` });
}

export const idOf = (text: string): number => keyIdOf(text, `There is no API key ${text}.`);

export function localKeys(context: CommandContext): KeyOperations {
  const { accounts, apiKeys, keyChanges, keyUsage } = context;
  return {
    owner: (idOrEmail) => accounts.find(idOrEmail),
    async find(text, account) {
      const id = idOf(text);
      return assertOwned({ id, owner: await apiKeys.ownerOf(id) }, account && (await accounts.find(account)).id);
    },
    list: async (owner) => (await apiKeys.list(owner)).map(toFullKey),
    read: async ({ owner, id }) => toKeyDetails(await keyChanges.read(owner, id)),
    recentUse: ({ owner, id }) => keyUsage.recent(owner, id),
    usage: async ({ owner, id }, query) => toUsage(await keyUsage.list(owner, id, query)),
    create: (owner, request, given) => createLocal(context, owner, request, given),
    async change({ owner, id }, request) {
      const before = await keyChanges.read(owner, id);
      const after = await keyChanges.change(operator, owner, id, request);
      return { details: toKeyDetails(after), isChanged: before.revision !== after.revision };
    },
    rotate: (key, request, given) => rotateLocal(context, key, request, given),
    async endPrevious({ owner, id }) {
      return { kind: nameOfKind(await keyChanges.endPrevious(operator, owner, id)) };
    },
    delete: ({ owner, id }) => apiKeys.delete(operator, owner, id),
  };
}

async function createLocal(
  { apiKeys, config, installation }: CommandContext,
  owner: string,
  request: KeyRequest,
  { sha256, ...given }: GivenCredential,
): Promise<CreatedKey> {
  await assertEnvironments(installation.db, config);
  if (!isIdentity(given) && sha256 === undefined) {
    const { secret, ...key } = await apiKeys.create(operator, owner, request);
    return { ...toFullKey(key), key: secret.reveal() };
  }
  const key =
    sha256 === undefined
      ? await apiKeys.createWithIdentity(operator, owner, request, given)
      : await apiKeys.createWithHash(operator, owner, request, sha256);
  return { ...toFullKey(key), key: undefined };
}

async function rotateLocal(
  { keyChanges, config, installation }: CommandContext,
  { owner, id }: NamedKey,
  request: RotationRequest,
  given: GivenIdentity,
): Promise<RotatedKey> {
  await assertEnvironments(installation.db, config);
  if (!isIdentity(given)) {
    const { key, secret } = await keyChanges.rotate(operator, owner, id, request);
    return { ...toRotatedPublicKey(key), key: secret.reveal(), isDisabled: key.disabledAt !== null };
  }
  const key = await keyChanges.rotateIdentity(operator, owner, id, { ...request, ...given });
  return { ...toRotatedPublicKey(key), key: undefined, isDisabled: key.disabledAt !== null };
}
