/** A folder of a test's own, gone when the test is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempFolder extends Disposable {
  readonly path: string;
}

export function newTempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'keyreeve-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
