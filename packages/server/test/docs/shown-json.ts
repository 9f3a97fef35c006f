/** The JSON that a page shows below its code blocks. */
import assert from 'node:assert/strict';

/** @returns the index of each block that has JSON below it, and the value */
export const shownJson = (page: string, blocks: readonly string[]): (readonly [index: number, json: unknown])[] =>
  [...page.matchAll(/^ *```sh\n((?:(?!```)[^])*)^ *```\n\n *```json\n([^]*?)^ *```$/gm)].map(
    ([, block = '', json = '']) => [blocks.indexOf(block), JSON.parse(json) as unknown] as const,
  );

/** Asserts equal names and types, also of inner values. Null is like any value: the page shows values that come later. */
export function assertLike(printed: unknown, json: unknown, path: string): void {
  if (printed === null || json === null) return;
  if (Array.isArray(json)) {
    assert.ok(Array.isArray(printed), path);
    for (const item of printed) assertLike(item, json[0], `${path}[]`);
  } else if (typeof json === 'object') {
    assert.ok(typeof printed === 'object', path);
    assert.deepEqual(Object.keys(printed), Object.keys(json), path);
    const values = new Map<string, unknown>(Object.entries(printed));
    for (const [name, value] of Object.entries(json)) assertLike(values.get(name), value, `${path}.${name}`);
  } else assert.equal(typeof printed, typeof json, path);
}
