/** Log lines that clients repeat. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SteppedTimers } from '../../../test-kit/stepped-timers.ts';
import { createLog, type LogLevel } from '../log.ts';
import { RepeatedLines, type RepeatableLine, type RepeatedLinesOptions } from '../repeated-lines.ts';

const client = '192.0.2.0/24';

function newLines(level: LogLevel, options: RepeatedLinesOptions = {}) {
  const timers = new SteppedTimers();
  const written: Record<string, unknown>[] = [];
  const log = createLog(level, {
    write: (text) => {
      const { time, pid, ...line } = JSON.parse(text) as Record<string, unknown>;
      assert.ok(time !== undefined && pid !== undefined);
      written.push(line);
    },
  });
  const lines = new RepeatedLines(log, { timers, ...options });
  const write = (times: number, line: Partial<RepeatableLine> = {}): void => {
    for (let n = 0; n < times; n++)
      lines.write({ level: 'info', client, kind: { event: 'refused', status: 404 }, details: { n }, ...line });
  };
  /** What was written since the last call, without the level. */
  const taken = (): unknown[] => written.splice(0);
  return { timers, lines, write, taken };
}

const line = (n: number, level = 'info') => ({ level, event: 'refused', status: 404, n });
const repeated = (count: number, clientRange = client) => ({
  level: 'info',
  event: 'repeated',
  repeated: 'refused',
  status: 404,
  clientRange,
  count,
});

test('of the lines that a client repeats, the first ones of each minute are written, and the number of the others', async () => {
  const { timers, write, taken } = newLines('info', { perKindMax: 2 });
  write(1_000);
  assert.deepEqual(taken(), [line(0), line(1)]);
  await timers.pause(59_999);
  assert.deepEqual(taken(), []);
  await timers.pause(1);
  assert.deepEqual(taken(), [repeated(998)]);
  // A minute without repetitions has no such line.
  write(2);
  assert.deepEqual(taken(), [line(0), line(1)]);
  await timers.pause(60_000);
  assert.deepEqual(taken(), []);
});

test('other kinds and other clients are written, up to the lines of one client', () => {
  const { lines, write, taken } = newLines('info', { perKindMax: 1, perClientMax: 2 });
  write(2);
  write(2, { client: '198.51.100.0/24' });
  write(1, { kind: { event: 'request', status: 200 } });
  write(3, { kind: { event: 'request', status: 201 } });
  assert.equal(taken().length, 3);
  lines.flush();
  assert.deepEqual(taken(), [
    repeated(1),
    { ...repeated(3), repeated: 'request', status: 201 },
    repeated(1, '198.51.100.0/24'),
  ]);
  lines.flush();
  assert.deepEqual(taken(), []);
});

test('at level debug, every line is written', () => {
  const { write, taken } = newLines('debug', { perKindMax: 1 });
  write(3);
  assert.deepEqual(taken(), [line(0), line(1, 'debug'), line(2, 'debug')]);
});

test('a level that is not logged has no summary, and levels count separately', () => {
  const { lines, write, taken } = newLines('warn', { perKindMax: 1 });
  write(3);
  write(2, { level: 'warn' });
  lines.flush();
  assert.deepEqual(taken(), [line(0, 'warn'), { ...repeated(1), level: 'warn' }]);
});

test('with many kinds of many clients, further ones count as one client, and their values do not, so that memory is bounded', () => {
  const { lines, write, taken } = newLines('info', { perKindMax: 1, kindsMax: 2 });
  for (let n = 0; n < 10; n++) write(1, { client: `client ${n}`, kind: { event: 'refused', status: n < 2 ? 404 : n } });
  write(1, { client: 'client 0' });
  assert.equal(taken().length, 3);
  lines.flush();
  assert.deepEqual(taken(), [
    repeated(1, 'client 0'),
    { level: 'info', event: 'repeated', repeated: 'refused', clientRange: 'others', count: 7 },
  ]);
});
