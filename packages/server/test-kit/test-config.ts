/** The configuration of tests that call `wire` themselves. Its deletion journal is in a temporary folder, not in `data/`. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, type Config } from '../src/app/configuration/config.ts';
import { newTempFolder } from './temp-folder.ts';

const folder = newTempFolder();
process.once('exit', () => folder[Symbol.dispose]());

/** @param environment settings besides the defaults */
export const testConfig = (environment: Readonly<Record<string, string>> = {}): Config => ({
  ...readConfig(environment),
  deletionJournal: mkdtempSync(join(folder.path, 'journal-')),
});
