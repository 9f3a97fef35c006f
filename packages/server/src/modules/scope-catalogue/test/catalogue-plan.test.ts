/** A verification looks up the scopes of a key in the index of the catalogue, which can have 1,000 scopes. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { sql } from '../../../foundation/database/sql.ts';
import { planOf } from '../../../../test-kit/plan-of.ts';
import { addAccount, addKey, hashOf } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { findKeyStates, findPreviousKeyStates } from '../../api-keys/state-store.ts';
import { findWithheldScopes } from '../../api-keys/withheld-store.ts';

const insertScopes = sql('test_insert_scopes', {
  sqlite: `insert into scopes (name, description, needs_entitlement, created_at, updated_at, revision)
    select value, '', 1, 0, 0, 1 from json_each($1)`,
  postgres: `insert into scopes (name, description, needs_entitlement, created_at, updated_at, revision)
    select value, '', 1, 0, 0, 1 from json_array_elements_text($1::json) as given (value)`,
});
const analyze = sql('test_analyze', 'analyze');

onEachDatabase('no read of a key reads the whole scope catalogue', async ({ db }) => {
  const accountId = await addAccount(db);
  const names = Array.from({ length: limits.catalogueScopesMax }, (_, n) => `area${n}:${'x'.repeat(50)}`);
  const scopes = names.slice(0, limits.scopesPerKeyMax);
  for (let n = 0; n < 40; n++) await addKey(db, accountId, `key ${n}`, { scopes });
  await db.transaction(async (tx) => {
    await tx.run(insertScopes, [JSON.stringify(names)]);
    await tx.run(analyze);
  });
  const hashes = [hashOf(`${accountId} key 1`)];
  assert.equal((await findKeyStates(db, hashes, true))[0]?.withheld?.split(' ').length, scopes.length);
  const reads: Parameters<typeof planOf>[1][] = [
    (reader) => findKeyStates(reader as typeof db, hashes, true),
    (reader) => findPreviousKeyStates(reader as typeof db, hashes, true),
    (reader) => findWithheldScopes(reader, accountId),
  ];
  for (const read of reads) {
    const plan = await planOf(db, read);
    assert.match(plan, db.dialect === 'sqlite' ? /SEARCH (s|scopes) USING PRIMARY KEY/ : /scopes_pkey/, plan);
    assert.doesNotMatch(plan, /SCAN (s|scopes)\b|Seq Scan on scopes/, plan);
  }
});
