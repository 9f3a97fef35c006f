/** Management keys, for warnings to operators. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { hasManageScope } from './acting-store.ts';

const unbounded = (dialect: Dialect): string => `select id from api_keys
   where ${hasManageScope(dialect, 'scopes')} and addresses is null and disabled_at is null
     and (expires_at is null or expires_at > $1)
   order by id limit $2`;
const selectUnbounded = sql<{ id: number }>('list_unbounded_management_keys', {
  sqlite: unbounded('sqlite'),
  postgres: unbounded('postgres'),
});

/**
 * Reads all keys, so it is not for requests.
 * @param latest milliseconds since 1970
 * @returns ids of at most `max` management keys that are valid from any IP address and expire later, or never
 */
export const listUnboundedManagementKeys = async (reader: Reader, latest: number, max: number): Promise<number[]> =>
  (await reader.all(selectUnbounded, [latest, max])).map(({ id }) => id);
