/** A procedure for tests of the writer thread, which loads this file. */
import { DomainError } from '../../errors.ts';
import { sql } from '../sql.ts';
import type { Procedure } from '../db.ts';
import { insert } from './things.ts';

const count = sql<{ count: number }>('test_count_all', 'select count(*) as count from things');

export interface NewThing {
  readonly id: number;
  /** Whether it is rejected after it was inserted. */
  readonly isRejected?: boolean;
}

/** @returns the number of things. @throws DomainError `key_limit_reached` if it is rejected */
export const addThing: Procedure<NewThing, number> = {
  script: 'foundation/database/test/thing-procedures',
  name: 'addThing',
  runTx: async (tx, { id, isRejected = false }) => {
    await tx.run(insert, [id]);
    if (isRejected) throw new DomainError('key_limit_reached', { detail: `no thing ${id}`, retryAfterSeconds: id });
    return (await tx.get(count))?.count ?? 0;
  },
};
