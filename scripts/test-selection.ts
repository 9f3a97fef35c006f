/** Which tests `npm test -- <path or name>` runs, and which form the slow lane. */
import { readFileSync } from 'node:fs';

/** Files that start many processes or generate clients: minutes of the whole run. Continuous integration runs them too. */
export const slowFiles: readonly string[] = [
  'packages/client/test/documents.test.ts',
  'packages/client/test/mutants.test.ts',
  'packages/client/test/revocation.test.ts',
  'packages/client/test/single-page-app.test.ts',
  'packages/go/test/package.test.ts',
  'packages/go/test/revocation.test.ts',
  'packages/go/test/snippets.test.ts',
  'packages/python/test/package.test.ts',
  'packages/python/test/revocation.test.ts',
  'packages/python/test/snippets.test.ts',
  'packages/server/test/docs/generated-clients.test.ts',
  'packages/server/test/docs/operating-pages.test.ts',
  'packages/server/test/e2e/client-query.test.ts',
  'packages/server/test/e2e/container.test.ts',
  'packages/server/test/e2e/first-release.test.ts',
  'packages/server/test/e2e/image.test.ts',
  'packages/server/test/e2e/kubernetes.test.ts',
  'packages/server/test/e2e/npm.test.ts',
  'packages/server/test/e2e/package-otel.test.ts',
  'packages/server/test/e2e/package.test.ts',
  'packages/server/test/e2e/prove-outside.test.ts',
  'packages/server/test/e2e/prove-revocation.test.ts',
  'packages/server/test/e2e/proxies.test.ts',
  'packages/server/test/limits/limits.test.ts',
  'packages/server/test/limits/mutants.test.ts',
  'packages/server/test/revocation-check/faults.test.ts',
  'packages/server/test/revocation-check/mutants.test.ts',
  'packages/server/test/revocation-check/rolling-restart.test.ts',
];

export interface Selection {
  readonly files: readonly string[];
  /** Regular expressions for names of tests; none means all tests of the files. */
  readonly names: readonly string[];
}

/**
 * An argument selects the files whose paths contain it. If there are none, it selects the tests whose names contain it. A name
 * can be put together from parts, so files are searched for any three words of it in a row.
 */
export function selectTests(files: readonly string[], args: readonly string[], read = readText): Selection {
  const byPath = files.filter((file) => args.some((arg) => file.includes(arg.replace(/^\.\//, ''))));
  if (byPath.length > 0) return { files: byPath, names: [] };
  const pieces = args.flatMap(piecesOf);
  const withText = files.filter((file) => pieces.some((piece) => read(file).includes(piece)));
  return { files: withText, names: args.map((arg) => RegExp.escape(arg)) };
}

function piecesOf(name: string): string[] {
  const words = name.split(' ');
  const starts = words.slice(0, Math.max(1, words.length - 2));
  return starts.map((_, index) => words.slice(index, index + 3).join(' '));
}

const readText = (file: string): string => readFileSync(file, 'utf8');
