/** Rules about the text of single files. */
import { basename } from 'node:path';
import type { Violation } from './imports.ts';
import { isSource } from './imports.ts';
import type { SourceFile } from './source.ts';

const linesMax = 400;
const src = 'packages/server/src/';
const testKit = 'packages/server/test-kit/';

const isCode = ({ path }: SourceFile): boolean => /^(?:packages|scripts|bench)\/.*\.(?:[cm]?[jt]s|sql)$/.test(path);
const isScript = (file: SourceFile): boolean => isCode(file) && !file.path.endsWith('.sql');
/** The test kit may ask what no store has to tell. */
const isStatementPlace = ({ path }: SourceFile): boolean =>
  /[/-]store\.ts$/.test(path) || path.startsWith(`${src}foundation/database/`) || path.startsWith(testKit);

/** A rule that looks for a pattern in some files. */
function without(
  pattern: RegExp,
  where: (file: SourceFile) => boolean,
  part: 'text' | 'code' | 'bare' | 'comments' = 'bare',
): (files: readonly SourceFile[]) => Violation[] {
  return (files) =>
    files.filter(where).flatMap((file) => {
      const found = pattern.exec(file[part])?.[0];
      return found === undefined ? [] : [{ path: file.path, detail: `“${found.trim()}”` }];
    });
}

const statementStart =
  /^\s*(?:select\s[^]*\sfrom\s|select\s+1\b|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|create\s+(?:table|index)\s|alter\s+table\s|drop\s+table\s|pragma\s|begin\b|commit\b|savepoint\s)/i;

export function sqlIsInStores(files: readonly SourceFile[]): Violation[] {
  return files
    .filter((file) => isSource(file) && !isStatementPlace(file))
    .flatMap(({ path, strings, code }) => {
      const statement = strings.find((text) => statementStart.test(text));
      if (statement !== undefined) return [{ path, detail: `“${statement.trim().slice(0, 40)}”` }];
      return /import\s*\{[^}]*\bsql\b[^}]*\}\s*from\s*['"][^'"]*database\/sql\.ts/.test(code)
        ? [{ path, detail: 'it imports sql()' }]
        : [];
    });
}

/** A list of statements, one for each element of a constant list. Only its element is an argument. */
const listOfStatements = /^export const \w+: readonly \w+\[\] = \w+\.map\(\(\w+\) => \(\{\n(?: .*\n)*\}\)\);$/gm;

/** At the top of a file no argument is in sight, so no input can become part of a statement. */
export function statementsAreConstants(files: readonly SourceFile[]): Violation[] {
  const makers = [`${src}foundation/database/sql.ts`, `${src}foundation/database/migrate.ts`];
  return files
    .filter((file) => isSource(file) && isStatementPlace(file) && !makers.includes(file.path))
    .flatMap(({ path, bare }) =>
      bare
        .replaceAll(listOfStatements, '')
        .split('\n')
        .filter((line) => /\bsql(?:<[^(]*)?\(/.test(line) && !/^const \w+ = sql\b/.test(line))
        .map((line) => ({ path, detail: `“${line.trim()}”` })),
    );
}

export const environmentIsReadOnce = without(
  /\bprocess\s*\.\s*env\b|\bprocess\s*\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*'node:process'/,
  (file) => isSource(file) && ![`${src}app/config.ts`, `${testKit}postgres/running.ts`].includes(file.path),
  'code',
);

export const timeIsReadOnce = without(
  /\bDate\s*\.\s*now\b|\bnew Date\s*(?:\(\s*\)|(?!\s*\())|(?<!new )\bDate\(\)|\bperformance\s*\.\s*(?:now|timeOrigin)\b|\bprocess\s*\.\s*hrtime\b/,
  (file) => isSource(file) && file.path !== `${src}foundation/clock.ts`,
);

/** A load generator may draw its keys as it likes. */
export const randomnessIsCryptographic = without(
  /\bMath\s*\.\s*random\b|\brandomUUID\b/,
  (file) => isScript(file) && !file.path.startsWith('bench/'),
);

const noEval = without(/\beval\s*\(|\bnew Function\b|'node:vm'/, isSource, 'code');
/** The test kit starts a database server. */
const noPrograms = without(
  /'(?:node:)?child_process'/,
  (file) => isSource(file) && !file.path.startsWith(`${testKit}postgres/`),
  'code',
);
export const noShellAndNoEval = (files: readonly SourceFile[]): Violation[] => [...noEval(files), ...noPrograms(files)];

/** A comparison that stops at the first difference tells how far a guess was right. */
export const secretsAreComparedInConstantTime = without(
  /\b\w*(?:[hH]ash|[mM]ac|[tT]ag|[sS]ecret|[pP]assword)(?:\.reveal\(\))?\s*[!=]==?(?!=)(?!\s*(?:undefined|null|true|false|''))/,
  (file) => isSource(file) && !file.path.includes('/cli/'),
);

/** Assembled, as the names below are, so that whoever searches the tree for them doesn’t find them here. */
const unfinishedWords = [['TO', 'DO'].join(''), ['FIX', 'ME'].join(''), ['XX', 'X'].join('')];
export const nothingIsLeftUnfinished = without(
  new RegExp(`\\b(?:${unfinishedWords.join('|')})\\b`),
  ({ path }) => path !== 'package-lock.json',
  'comments',
);

export const noAny = without(/(?:[:<,|&=([]|\bas|\bextends|=>)\s*any\b(?!\s*[:(])/, isScript);

export const noCheckIsSilenced = without(
  /@ts-(?:ignore|expect-error|nocheck)|(?:eslint|oxlint)-disable(?!-next-line [\w/-]+ -- |-line [\w/-]+ -- )/,
  isScript,
  'comments',
);

export function filesAreShort(files: readonly SourceFile[]): Violation[] {
  return files.filter(isCode).flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length;
    return lines > linesMax ? [{ path, detail: `${lines} lines; at most ${linesMax}` }] : [];
  });
}

export function filesSayWhatTheyAreFor(files: readonly SourceFile[]): Violation[] {
  return files.filter(isCode).flatMap(({ path, text }) => {
    const start = text.replace(/^#!.*\n/, '').slice(0, 300);
    const comment = path.endsWith('.sql') ? /^-- .{10,}/ : /^(?:\/\*\*?\s+(?:\*\s+)?[^\s*].{10,}|\/\/ .{10,})/;
    return comment.test(start) ? [] : [{ path, detail: 'its first line is no comment that says what it is for' }];
  });
}

const vagueNames = /^(?:utils?|helpers?|common|misc|shared|lib|stuff)(?:\.|$)/;
const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
const migration = /^\d{4}_[a-z0-9_]+(?:\.(?:sqlite|postgres))?\.sql$/;

export function namesAreKebabCase(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => /^(?:packages|scripts|bench)\//.test(path))
    .filter(
      ({ path }) =>
        !path
          .split('/')
          .every((part) => kebabCase.test(part) || migration.test(part) || /^(?:[A-Z]+\.md|\.npmrc)$/.test(part)),
    )
    .map(({ path }) => ({ path, detail: 'not kebab-case' }));
}

export function namesSayWhatIsInside(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(
      (file) => isCode(file) && [basename(file.path), ...file.path.split('/')].some((part) => vagueNames.test(part)),
    )
    .map(({ path }) => ({ path, detail: 'a name that fits anything' }));
}

/** Packages come from wherever the reader's own npm is set up to fetch them. */
const registryHosts = [
  ['npm', 'js'].join(''),
  ['npm', 'mirror'].join(''),
  ['yarn', 'pkg'].join(''),
  ['un', 'pkg'].join(''),
  ['js', 'delivr'].join(''),
];
export const noPackageRegistryIsNamed = without(
  new RegExp(
    `\\b(?:${registryHosts.join('|')})\\.(?:org|com|net)\\b|\\bregistry\\.[a-z0-9-]+\\.[a-z]{2,}|"resolved": "https?:|^registry\\s*=`,
    'im',
  ),
  () => true,
  'text',
);
