/** The version of this program. */
import { readFileSync } from 'node:fs';
import { ownFile } from '../foundation/own-files.ts';

export const version = (JSON.parse(readFileSync(ownFile('../package.json'), 'utf8')) as { version: string }).version;
