/** The requests for the keys of one account. */
import type { Arguments, KeyRoute, ResponseOf } from '../../api-types.ts';
import type { KeyOwner, ListedKey } from './key-owner.ts';

type Call = <K extends KeyRoute>(route: K, ...[request]: Arguments<K>) => Promise<ResponseOf<K>>;

/**
 * @param call sends a request with the session
 * @param path of the account, such as `/auth`. The routes of other accounts have the bodies and responses of the account's own (contract:
 *   derived-route.ts)
 */
export function keyRequests(
  call: Call,
  path: string,
): Pick<KeyOwner, 'list' | 'create' | 'get' | 'change' | 'rotate' | 'endPrevious' | 'remove' | 'usage'> {
  const base = path as '/auth';
  return {
    list: async (query, signal) => {
      const page = await call(`GET ${base}/api-keys`, { query: { ...query, view: 'full' }, signal });
      return { items: page.apiKeys as ListedKey[], nextCursor: page.nextCursor ?? null, total: page.total };
    },
    create: (body) => call(`POST ${base}/api-keys`, { body }),
    get: (id, signal) => call(`GET ${base}/api-keys/:id`, { params: { id }, ...(signal && { signal }) }),
    change: (id, body) => call(`PATCH ${base}/api-keys/:id`, { params: { id }, body }),
    rotate: (id, body) => call(`POST ${base}/api-keys/:id/rotate`, { params: { id }, body }),
    endPrevious: (id) => call(`DELETE ${base}/api-keys/:id/previous`, { params: { id } }),
    remove: (id) => call(`DELETE ${base}/api-keys/:id`, { params: { id } }),
    usage: (id, step, from, signal) => {
      const query = { step, from: from.toISOString() };
      return call(`GET ${base}/api-keys/:id/usage`, { params: { id }, query, ...(signal && { signal }) });
    },
  };
}
