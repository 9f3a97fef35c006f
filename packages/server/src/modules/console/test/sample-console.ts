/** A folder with small files, as the build of the console writes them. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newTempFolder, type TempFolder } from '../../../../test-kit/temp-folder.ts';

export const sampleScript = `console.log(${JSON.stringify('a'.repeat(1_000))});\n`;

const incompressible = createHash('sha512').digest();

export const sampleFiles: Readonly<Record<string, string | Uint8Array>> = {
  'index.html': '<!doctype html>\n<script type="module" src="/console/assets/0/app.js"></script>\n',
  'app.js': sampleScript,
  'app.css': 'a { color: red; }\n',
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
  'licences.txt': 'MIT – ä\n',
  'app.webmanifest': '{}\n',
  'text.woff2': incompressible,
  // Not served.
  'app.js.map': '{}',
  'notes.md': '#',
  '.env': 'x',
};

/** @param changed contents that differ from {@link sampleFiles} */
export function newConsoleFolder(changed: typeof sampleFiles = {}): TempFolder {
  const folder = newTempFolder();
  for (const [name, content] of Object.entries({ ...sampleFiles, ...changed }))
    writeFileSync(join(folder.path, name), content);
  return folder;
}
