/** An interrupted import can be repeated. */
import assert from 'node:assert/strict';
import { countRows, tablesIn } from '../../backup/store.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { importFrom, linesOf } from './many-lines.ts';

onEachDatabase('an interrupted import keeps whole batches, and a second run imports the rest', async ({ db }) => {
  const lines = 10_000;
  const broken = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of linesOf(lines / 2)) yield chunk;
    throw new Error('the disk is gone');
  };
  await assert.rejects(importFrom(db, broken(), false), /the disk is gone/);
  const kept = await countRows(db, tablesIn(db.dialect, 'main'));
  assert.ok((kept['accounts'] ?? 0) > 4_000);
  assert.equal(kept['audit_events'], kept['accounts']);
  const { counts } = await importFrom(db, linesOf(lines), false);
  assert.deepEqual(counts, {
    lines,
    imported: lines * 0.998 - (kept['accounts'] ?? 0),
    updated: 0,
    existing: kept['accounts'],
    changed: 0,
    refused: lines * 0.002,
    traits: counts.traits,
    warnings: [],
  });
  const whole = await countRows(db, tablesIn(db.dialect, 'main'));
  assert.deepEqual([whole['accounts'], whole['audit_events']], [lines * 0.998, lines * 0.998]);
});
