/** The identities of an account, for its owner. Also without a configured provider: links of an earlier one remain. */
import type { LinkedIdentity } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { listIdentities } from './store.ts';

export class LinkedIdentities {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Oldest first. */
  async list({ accountId }: AccountPrincipal): Promise<LinkedIdentity[]> {
    const rows = await listIdentities(this.#db, accountId);
    return rows.map(({ issuer, subject, createdAt, lastUsedAt }) => ({
      issuer,
      subject,
      createdAt: toInstant(createdAt),
      lastUsedAt: lastUsedAt === null ? null : toInstant(lastUsedAt),
    }));
  }
}
