/** `npm run docs`: writes the pages of reference. */
import { writeFileSync } from 'node:fs';
import { referencePages } from './reference.ts';

for (const [path, content] of Object.entries(referencePages())) {
  writeFileSync(new URL(`../${path}`, import.meta.url), content);
}
