/** Which test files run in which lane, and which tests `npm test -- <path or name>` runs. */
import { readFileSync } from 'node:fs';

/** Tests that one `node --test` runs. */
export interface Selection {
  readonly files: readonly string[];
  /** Regular expressions for names of tests; none means all tests of the files. */
  readonly names?: readonly string[];
  /** Value of TEST_DATABASES (`new-db.ts`). Default: both databases. */
  readonly databases?: 'sqlite' | 'postgres';
}

export interface Lane {
  readonly runs: readonly Selection[];
  /** The files whose ASVS tags the lane shows. */
  readonly taggedFiles: readonly string[];
}

type Read = (file: string) => string;
const readText: Read = (file) => readFileSync(file, 'utf8');

const isExtended = (file: string): boolean => /\.extended\.test\.tsx?$/.test(file);

/** Files with tests of the whole service, which do not depend on the database. */
const isOfService = (text: string): boolean => /from '[^']*\/(?:app-on-each-database|console-site)\.ts'/.test(text);

/** `npm test`: the product. */
export function productLane(files: readonly string[]): Lane {
  const own = files.filter((file) => !isExtended(file));
  return { runs: [{ files: own, databases: 'sqlite' }], taggedFiles: own };
}

/** `npm run test:extended`: the tests of tests, the long runs, other programs, and the tests of the service on PostgreSQL. */
export function extendedLane(files: readonly string[], read = readText): Lane {
  const own = files.filter(isExtended);
  const ofService = files.filter((file) => !isExtended(file) && isOfService(read(file)));
  return {
    runs: [{ files: own }, { files: ofService, databases: 'postgres', names: [String.raw`\(postgres\)$`] }],
    taggedFiles: own,
  };
}

/**
 * An argument selects the files whose paths contain it, of both lanes. If there are none, it selects the tests whose names contain
 * it. A name can be put together from parts, so files are searched for any three words of it in a row.
 */
export function selectTests(files: readonly string[], args: readonly string[], read = readText): Selection {
  const byPath = files.filter((file) => args.some((arg) => file.includes(arg.replace(/^\.\//, ''))));
  if (byPath.length > 0) return { files: byPath };
  const pieces = args.flatMap(piecesOf);
  const withText = files.filter((file) => pieces.some((piece) => read(file).includes(piece)));
  return { files: withText, names: args.map((arg) => RegExp.escape(arg)) };
}

function piecesOf(name: string): string[] {
  const words = name.split(' ');
  const starts = words.slice(0, Math.max(1, words.length - 2));
  return starts.map((_, index) => words.slice(index, index + 3).join(' '));
}
