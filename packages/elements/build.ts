/** Builds the one script of the element: for the npm package, and for `/portal/keys.js` of the service, in the build of the console. */
import { join } from 'node:path';
import * as esbuild from 'esbuild';

/** @returns the script, which works as a module and without @throws Error if a source has an error */
export function buildElement(): string {
  const { outputFiles } = esbuild.buildSync({
    absWorkingDir: import.meta.dirname,
    entryPoints: [join(import.meta.dirname, 'src/element.ts')],
    bundle: true,
    write: false,
    target: ['chrome120', 'firefox121', 'safari17.5'],
    format: 'iife',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}
