/** The table of docs/retention.md has the periods of the program. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { settings } from '../../src/app/configuration/settings.ts';

const page = readFileSync(new URL('../../../../docs/retention.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => line.includes(' | '));
const bounds: Readonly<Record<string, unknown>> = limits;
const variables = Object.values(settings).map(({ name }) => name);

test('the periods in the table are those of the limits and settings', () => {
  const shown = rows.flatMap((row) => [...row.matchAll(/(\d+) days \(`(\w+)`\)/g)]);
  for (const [, days, name = ''] of shown) assert.equal(Number(days), bounds[name], name);
  const named = new Set(shown.map(([, , name]) => name));
  // A limit for a period that is not in the table would go unnoticed.
  const periods = Object.keys(limits).filter((name) => /(?:KeptDays|ForgetDays|DeliveryDays)$/.test(name));
  assert.deepEqual(named, new Set(periods));
  for (const [name] of rows.join('').matchAll(/KEYREEVE_\w+/g))
    assert.ok(
      variables.some((known) => known === name),
      name,
    );
});
