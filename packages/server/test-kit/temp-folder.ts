/** A temporary folder that is removed after the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempFolder extends Disposable {
  readonly path: string;
}

/** @param parent default: the temporary folder of this process */
export function newTempFolder(parent = tmpdir()): TempFolder {
  const path = mkdtempSync(join(parent, 'keyreeve-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
