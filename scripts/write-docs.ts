/** `npm run docs`: writes the pages of reference, and which tests show each requirement of the ASVS. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readTaggedFiles, withTestFiles } from './asvs.ts';
import { referencePages } from './reference.ts';

const root = new URL('..', import.meta.url).pathname;
const asvsPage = `${root}/docs/asvs.md`;

for (const [path, content] of Object.entries(referencePages())) writeFileSync(`${root}/${path}`, content);
writeFileSync(asvsPage, withTestFiles(readFileSync(asvsPage, 'utf8'), readTaggedFiles(root)));
