/** HTTP routes of canary keys, for the credential of a revocation check from outside. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { route, type Route } from '../../http/route.ts';
import { keyIdOf } from '../api-keys/key-request.ts';
import type { CanaryKeys } from './canary-keys.ts';

/** What the credential can read about the process that answers. */
export interface CanaryInstance {
  readonly id: string;
  readonly version: string;
  readonly database: 'sqlite' | 'postgres';
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export const canaryKeyRoutes = (canaryKeys: CanaryKeys, instance: CanaryInstance): readonly Route[] => [
  route(contract.createCanaryKey, async ({ principal }) => {
    const { id, nickname, secret, createdAt, updatedAt, expiresAt } = await canaryKeys.create(principal);
    return { status: 201, body: { id, key: secret.reveal(), ...shown({ nickname, createdAt, updatedAt, expiresAt }) } };
  }),
  route(contract.listCanaryKeys, async ({ principal }) => {
    const { keyId, accountId, expiresAt } = principal;
    const { id, version, database, now } = instance;
    const apiKeys = (await canaryKeys.list(principal)).map((key) => ({ id: key.id, ...shown(key) }));
    return {
      status: 200,
      body: {
        apiKeys,
        credential: { keyId, accountId, expiresAt: toInstant(expiresAt) },
        instance: { id, version, node: process.version, database, now: toInstant(now()) },
      },
    };
  }),
  route(contract.deleteCanaryKey, async ({ principal, params }) => {
    const id = keyIdOf(params.id);
    await canaryKeys.delete(principal, id).catch((error: unknown) => {
      // The key was deleted, or given to another account by a restore, since it was found.
      if (error instanceof DomainError && error.code === 'not_key_owner') throw new DomainError('key_not_found');
      throw error;
    });
    return { status: 200, body: { message: `Canary key ${id} has been deleted.` } };
  }),
];

const shown = ({
  nickname,
  createdAt,
  updatedAt,
  expiresAt,
}: {
  readonly nickname: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number;
}) => ({
  nickname,
  createdAt: toInstant(createdAt),
  updatedAt: toInstant(updatedAt),
  expiresAt: toInstant(expiresAt),
});
