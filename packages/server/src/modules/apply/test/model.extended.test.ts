/** Random sequences of files, deletions, starts, backups and restores agree with a model. */
import { testedKinds } from '../../../../test-kit/new-db.ts';
import { test } from 'node:test';
import { Sequence } from './model.ts';

for (const kind of testedKinds)
  test(`what was deleted never exists again, and a file applied twice changes nothing: random sequences (${kind})`, async () => {
    for (let seed = 1; seed <= 20; seed++) await new Sequence(seed, kind).run(40);
  });
