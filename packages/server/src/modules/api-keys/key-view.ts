/** API keys in responses and in the output of the command line. */
import type { ListedKey, ListedKeyFull } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import type { ApiKey } from './api-keys.ts';

/** Parses decimal digits without a leading zero, up to 2^53 − 1. @returns undefined for any other text */
export function parseKeyId(text: string): number | undefined {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}

export const toKey = ({ id, nickname, createdAt, updatedAt }: ApiKey): ListedKey => ({
  id,
  nickname,
  createdAt: toInstant(createdAt),
  updatedAt: toInstant(updatedAt),
});

export const toFullKey = (key: ApiKey): ListedKeyFull => ({
  ...toKey(key),
  scopes: [...key.scopes],
  expiresAt: key.expiresAt === null ? null : toInstant(key.expiresAt),
  lastUsedAt: key.lastUsedAt === null ? null : toInstant(key.lastUsedAt),
});
