/** Statistics of rounds, rounds that do not count, and the parts of RESULTS.md that a run replaces. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noiseOf, parseProcessorTimes, type Noise } from './machine.ts';
import { Report, verdict, withResult } from './report.ts';
import { alternate, median, medianInterval, rounded, Rounds, type Measured, type Side } from './rounds.ts';

/** Of the smallest value that the interval contains, by the number of values: tables of the sign test at 0.05, two-sided. */
const leastRanks: Readonly<Record<number, number>> = {
  6: 1,
  8: 1,
  9: 2,
  11: 2,
  12: 3,
  15: 4,
  20: 6,
  25: 8,
  30: 10,
  40: 14,
  50: 18,
  100: 40,
};

/** Descending. */
const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, index) => count - index);

for (const [count, rank] of Object.entries(leastRanks).map(([text, one]) => [Number(text), one] as const)) {
  test(`the 95 % interval of the median of ${count} values begins at the value of rank ${rank}`, () => {
    assert.deepEqual(medianInterval(numbersTo(count)), [rank, count + 1 - rank]);
  });
}

test('the interval of fewer than six values contains all of them', () => {
  for (const count of [1, 2, 3, 4, 5]) assert.deepEqual(medianInterval(numbersTo(count)), [1, count]);
});

test('the median of an even number of values is between the two in the middle', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
});

test('a ratio is that of the values within a round', () => {
  const round = (before: number, after: number) =>
    new Map([
      ['before', { processorUs: before }],
      ['after', { processorUs: after }],
    ]);
  const rounds = new Rounds([round(10, 20), round(40, 50), round(90, 60)]);
  assert.deepEqual(rounds.ratios('before', 'after', 'processorUs'), [0.5, 0.8, 1.5]);
  assert.equal(rounds.median('before', 'processorUs'), 40);
  assert.throws(() => rounds.values('before', 'msP99'), /msP99 of before was not measured/);
});

const quiet: Noise = { steal: 0, foreign: 0 };

/** Compares sides whose figure is the number of the call. @param voidCall of the side b, whose measurement is not valid */
async function compare(noise: readonly Noise[], voidCall?: number) {
  const order: string[] = [];
  const lines: string[] = [];
  const left = [...noise];
  const side = (name: string): Side => {
    let calls = 0;
    const run = async (): Promise<Measured> => {
      order.push(name);
      const msP50 = ++calls;
      return name === 'b' && calls === voidCall ? { msP50, isVoid: 'no flush' } : { msP50 };
    };
    return { name, run };
  };
  const watch = () => () => left.shift() ?? quiet;
  const options = { rounds: 2, warmUp: 0, noiseMax: 0.05, watch, print: (line: string) => void lines.push(line) };
  return { found: await alternate([side('a'), side('b')], options), order, lines };
}

test('a round with steal, foreign load or an invalid measurement is repeated and does not count', async () => {
  const limit = { steal: 0.05, foreign: 0.05 };
  const noise = [{ steal: 0.051, foreign: 0 }, { steal: 0, foreign: 0.051 }, quiet, limit, quiet];
  const { found, lines } = await compare(noise, 3);
  assert.deepEqual(
    [found.values('a', 'msP50'), found.values('b', 'msP50')],
    [
      [4, 5],
      [4, 5],
    ],
  );
  assert.deepEqual([found.voids, found.noise], [3, [limit, quiet]]);
  assert.deepEqual(
    lines.map((line) => /void: (.*)/.exec(line)?.[1]),
    ['steal', 'foreign load', 'no flush', undefined, undefined],
  );
  assert.equal(lines[1], 'round 2: b: msP50 2; a: msP50 2; steal 0.0 %, foreign load 5.1 %; void: foreign load');
});

test('every second round has the reverse order', async () => {
  assert.deepEqual((await compare([])).order, ['a', 'b', 'b', 'a']);
});

test('a comparison ends when two of three rounds are void', async () => {
  const noisy = { steal: 0, foreign: 0.5 };
  await assert.rejects(
    compare([quiet, noisy, noisy, noisy, noisy, noisy]),
    /5 of 6 rounds are void: the machine is not quiet/,
  );
});

test('steal and foreign load are shares of the time of all processors', () => {
  const before = parseProcessorTimes('cpu  100 10 50 800 5 1 4 30 7 7\ncpu0 1 2 3 4\n');
  assert.deepEqual(before, { total: 1_000, busy: 160, steal: 30 });
  const after = parseProcessorTimes('cpu  190 20 60 870 5 1 4 50 99 99\n');
  assert.deepEqual(noiseOf(before, after, 90), { steal: 0.1, foreign: 0.1 });
  assert.deepEqual(noiseOf(before, after, 120), { steal: 0.1, foreign: 0 });
  assert.throws(() => parseProcessorTimes('cpu0 1 2 3 4'), /no line of all processors/);
});

test('numbers have three significant digits, and separators', () => {
  assert.deepEqual([0.123456, 1.006, 12.345, 999.6, 12_345.6].map(rounded), [
    '0.123',
    '1.01',
    '12.3',
    '1,000',
    '12,346',
  ]);
});

test('a bar is met by the value itself', () => {
  assert.deepEqual([verdict(1.2, { atMost: 1.2 }), verdict(1.201, { atMost: 1.2 })], ['met', '**missed**']);
  assert.deepEqual([verdict(0.45, { atLeast: 0.45 }), verdict(0.44, { atLeast: 0.45 })], ['met', '**missed**']);
  assert.equal(verdict(1, {}), '');
});

const results = `# Results

## Calm

\`npm run bench -- calm\`: not measured yet.

A note.

## Library

\`npm run bench -- sdk --rounds 9\` on 2026-11-01: two
lines.

| what | median |
| --- | --- |
| rate | 3 |

\`npm run bench -- sdk-go\`: not measured yet.
`;

test('a run replaces the paragraph and the table of its figure only', () => {
  const replaced = withResult(results, 'sdk', '`npm run bench -- sdk` on $&\n\n| new |');
  assert.equal(
    replaced,
    results.replace(/`npm run bench -- sdk --[^]*\| 3 \|/, () => '`npm run bench -- sdk` on $&\n\n| new |'),
  );
  assert.equal(
    withResult(results, 'sdk-go', 'go'),
    results.replace('`npm run bench -- sdk-go`: not measured yet.', 'go'),
  );
  assert.match(withResult(results, 'calm', 'new'), /## Calm\n\nnew\n\nA note\.\n/);
  assert.throws(() => withResult(results, 'cost', 'new'), /no paragraph that begins with the command cost/);
});

test('a result names its command and the noise of its rounds, and has a row for each value', () => {
  const report = new Report('cost --rounds 3');
  report.note(new Rounds([new Map()], [{ steal: 0.01, foreign: 0.002 }], 2));
  report.add('processor time', { values: [3, 1, 2], unit: 'µs', bar: { atMost: 1.5 } });
  assert.match(
    String(report),
    /^`npm run bench -- cost --rounds 3` on \d{4}-\d\d-\d\d: .+ Of 3 rounds, 2 were void\. In the others, at most 1\.0 % steal and 0\.2 % foreign load\.\n\n\| what .*\n\| --- .*\n\| processor time \| 2 µs \| 1 to 3 µs \| at most 1\.5 µs \| \*\*missed\*\* \|  \|$/,
  );
});
