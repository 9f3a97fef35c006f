/** A temporary folder that is removed after the test. */
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
