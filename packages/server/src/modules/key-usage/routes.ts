/** HTTP route of the usage of API keys, and its response, which administrators get too. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { route, type Route } from '../../http/route.ts';
import { keyIdOf } from '../api-keys/key-request.ts';
import type { KeyUsage, UsageRow } from './key-usage.ts';

export function keyUsageRoutes(keyUsage: KeyUsage): readonly Route[] {
  return [
    route(contract.getKeyUsage, async ({ principal, params, query }) => {
      const rows = await keyUsage.list(principal.accountId, keyIdOf(params.id), query);
      return { status: 200, body: toUsage(rows) };
    }),
  ];
}

export const toUsage = (rows: readonly UsageRow[]): contract.KeyUsage => ({
  usage: rows.map(({ at, accepted, refused }) => ({ at: toInstant(at), accepted, refused })),
});
