/** What nearly every class with access to the database takes. Its options extend it. */
import type { Clock } from './clock.ts';
import type { Db } from './database/db.ts';

export interface Core {
  readonly db: Db;
  readonly clock: Clock;
}
