/** Reads the metrics of the admin listener, as Prometheus does. */
import assert from 'node:assert/strict';
import type { Program } from './program.ts';

/** @returns samples by name with labels, from the Prometheus text format 0.0.4 */
export async function scrape({ adminUrl }: Program): Promise<Map<string, number>> {
  const response = await fetch(`${adminUrl}/metrics`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name = '', value = ''] = /^(\S+(?:\{.*\})?) (\S+)$/.exec(line) ?? assert.fail(line);
      return [name, Number(value)];
    }),
  );
}

/** The values of the samples of one metric, with any labels. */
export const valuesOf = async (program: Program, metric: string): Promise<number[]> =>
  [...(await scrape(program))].filter(([name]) => name.split('{')[0] === metric).map(([, value]) => value);
