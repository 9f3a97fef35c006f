/** HTTP route of the usage of API keys, and its response, which administrators get too. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { route, type Route } from '../../http/route.ts';
import { parseKeyId } from '../api-keys/key-view.ts';
import type { KeyUsage, UsageRow } from './key-usage.ts';

export function keyUsageRoutes(keyUsage: KeyUsage): readonly Route[] {
  return [
    route(contract.getKeyUsage, async ({ principal, params, query }) => {
      const id = parseKeyId(params.id);
      if (id === undefined) throw new DomainError('key_not_found');
      return { status: 200, body: toUsage(await keyUsage.list(principal.accountId, id, query)) };
    }),
  ];
}

export const toUsage = (rows: readonly UsageRow[]): contract.KeyUsage => ({
  usage: rows.map(({ at, accepted, refused }) => ({ at: toInstant(at), accepted, refused })),
});
