/** `npm run docs`: writes the pages of reference. */
import { writeFileSync } from 'node:fs';
import { referencePages } from './reference.ts';

const root = new URL('..', import.meta.url).pathname;

for (const [path, content] of Object.entries(referencePages())) writeFileSync(`${root}/${path}`, content);
