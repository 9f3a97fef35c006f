/**
 * The writer thread. A commit waits for the disk, which must not block the main thread. The thread handles one request
 * after another: it receives `[id, kind, text, values]` and sends `[id, result]` or `[id, undefined, error]`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteConnection } from './sqlite-connection.ts';
import type { SqlValue } from './sql.ts';

export type WriterRequest = readonly [
  id: number,
  kind: 'exec' | 'all' | 'run' | 'close',
  text: string,
  values: readonly SqlValue[],
];
export type WriterResponse = readonly [id: number, result: unknown, error?: string];

const port = parentPort;
if (!port) throw new Error('sqlite-writer must run as a worker thread');
const connection = new SqliteConnection((workerData as { path: string }).path, 'write');

port.on('message', ([id, kind, text, values]: WriterRequest) => {
  let response: WriterResponse;
  try {
    response = [id, perform(kind, text, values)];
  } catch (error) {
    response = [id, undefined, error instanceof Error ? error.message : String(error)];
  }
  port.postMessage(response);
  if (kind === 'close') port.close();
});

function perform(kind: WriterRequest[1], text: string, values: readonly SqlValue[]): unknown {
  switch (kind) {
    case 'exec':
      connection.exec(text);
      return undefined;
    case 'all':
      return connection.prepare(text).all(...values);
    case 'run':
      return Number(connection.prepare(text).run(...values).changes);
    case 'close':
      connection.close();
      return undefined;
  }
}
