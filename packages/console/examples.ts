/**
 * The examples of “Protect your API”: the files for proxies, and the programs of the tutorials, as they are in the documentation, whose
 * tests run them. The build inserts them into the console.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const repository = dirname(dirname(import.meta.dirname));

/** Paths in the repository, which `bin/build-stamp.js` names too. They are documents, so a package has them. */
export const exampleFiles = {
  nginx: 'docs/forward-auth/nginx.conf',
  caddy: 'docs/forward-auth/Caddyfile',
  express: 'docs/tutorials/express.md',
  fastapi: 'docs/tutorials/fastapi.md',
  go: 'packages/go/README.md',
  curl: 'docs/verification.md',
} as const;

/** @throws Error if a file cannot be read, or a page has no such example */
export const readExamples = (): Readonly<Record<keyof typeof exampleFiles, string>> => ({
  nginx: read(exampleFiles.nginx),
  caddy: read(exampleFiles.caddy),
  express: blockOf(exampleFiles.express, 'js', '@keyreeve/client/express'),
  fastapi: blockOf(exampleFiles.fastapi, 'python', 'from keyreeve.fastapi'),
  go: blockOf(exampleFiles.go, 'go', '.Guard('),
  // Without the response to the second request.
  curl: blockOf(exampleFiles.curl, 'sh', '/auth/verify').split('\n').slice(0, 3).join('\n') + '\n',
});

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

/** The first block of code in this language that contains the text, without the indentation of a list. */
function blockOf(path: string, language: string, contained: string): string {
  for (const [, indentation = '', code = ''] of read(path).matchAll(
    new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'),
  ))
    if (code.includes(contained)) return code.replaceAll(new RegExp(`^${indentation}`, 'gm'), '');
  throw new Error(`${path} has no block of ${language} with ${contained}`);
}
