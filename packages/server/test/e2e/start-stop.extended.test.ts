/** Processes that start at the same time, again and again. */
import { test } from 'node:test';
import { assertOneKey, assertOneMigrates } from './simultaneous-starts.ts';

for (const round of [1, 2]) {
  test(
    `processes that start simultaneously in an empty folder use one master key and one signing key (${round})`,
    assertOneKey,
  );

  test(
    `of several simultaneous migrations one applies the schema, and the others find it up to date (${round})`,
    assertOneMigrates,
  );
}
