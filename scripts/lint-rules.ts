/**
 * The rules of this repository that the linter does not have (ARCHITECTURE.md), as a plugin of oxlint. Samples that each rule
 * rejects are in `packages/server/test/rules`.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { RegExpParser } from '@eslint-community/regexpp';
import { analyse } from 'scslre';

const root = join(import.meta.dirname, '..');
const modulesFolder = 'packages/server/src/modules/';

/** Each module may import the modules before it in the table of ARCHITECTURE.md. A table belongs to one module. */
const moduleRows = [
  ...readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/^`([a-z-]+)` \|[^|\n]+\|([^|\n]*)$/gm),
];
export const modules: readonly string[] = moduleRows.map(([, name = '']) => name);
const owners = new Map(
  moduleRows.flatMap(([, name = '', tables = '']) =>
    [...tables.matchAll(/`(\w+)`/g)].map(([, table = '']): [string, string] => [table, name]),
  ),
);

/** The files that other folders may import, as `<module>/<file>`. */
export const publicFiles: ReadonlySet<string> = new Set(
  [
    ...readFileSync(join(import.meta.dirname, 'public-files.txt'), 'utf8').matchAll(/^([a-z-]+):((?:\s+[a-z/-]+)+)$/gm),
  ].flatMap(([, module, names = '']) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${module}/${name}.ts`),
  ),
);

/** The part of the linter's syntax tree that the rules read. */
interface Node {
  readonly type: string;
  readonly parent: Node;
  readonly [property: string]: unknown;
}

interface Context {
  readonly filename: string;
  readonly sourceCode: {
    readonly text: string;
    getText(node: Node): string;
    getAllComments(): readonly (Node & { readonly value: string })[];
  };
  report(problem: { readonly node: Node; readonly message: string }): void;
}

type Visitor = Readonly<Record<string, (node: Node) => void>>;
type Report = (node: Node, message: string) => void;

/** @param create gets the path of the file, relative to the folder that is linted */
const rule = (create: (report: Report, path: string, context: Context) => Visitor) => ({
  create(context: Context): Visitor {
    const path = relative(process.cwd(), context.filename).replaceAll('\\', '/');
    return create((node, message) => context.report({ node, message }), path, context);
  },
});

const textOf = (node: unknown): string => {
  const { value, quasis } = node as { value?: unknown; quasis?: { value: { cooked: string } }[] };
  if (quasis) return quasis.map((quasi) => quasi.value.cooked).join('$');
  return typeof value === 'string' ? value : '';
};

const isStatementPlace = (path: string): boolean =>
  /[/-]store\.ts$/.test(path) || path.includes('src/foundation/database/') || path.includes('/test-kit/');

const statementStart =
  /^\s*(?:select\s[^]*\sfrom\s|select\s+1\b|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|create\s+(?:table|index)\s|alter\s+table\s|drop\s+table\s|pragma\s|begin\b|commit\b|savepoint\s)/i;

const sqlInStores = rule((report, path) => {
  if (isStatementPlace(path)) return {};
  const check = (node: Node): void => {
    if (statementStart.test(textOf(node))) report(node, 'SQL belongs in a store or in foundation/database');
  };
  return {
    Literal: check,
    TemplateLiteral: check,
    ImportSpecifier(node) {
      const { imported, parent } = node as unknown as { imported: { name: string }; parent: { source: Node } };
      if (imported.name === 'sql' && textOf(parent.source).endsWith('database/sql.ts'))
        report(node, 'only stores and foundation/database use sql()');
    },
  };
});

/** At the top of a file no argument is in scope, so no input can become part of a statement. */
const constantStatements = rule((report, path) => {
  if (!isStatementPlace(path) || /database\/(?:sql|migrate)\.ts$/.test(path)) return {};
  return {
    CallExpression(node) {
      if ((node['callee'] as { name?: string }).name !== 'sql') return;
      if (!isTopLevelConstant(node.parent) && !isInConstantList(node))
        report(node, 'a statement is a constant at the top of its file');
    },
  };
});

const isTopLevelConstant = ({ type, parent }: Node): boolean =>
  type === 'VariableDeclarator' && ['Program', 'ExportNamedDeclaration'].includes(parent.parent.type);

/** `const list = tables.map((table) => ({ select: sql(…) }))`: only an element of a constant list is an argument. */
function isInConstantList(node: Node): boolean {
  const [property, object, arrow, call] = ancestors(node);
  return (
    property?.type === 'Property' &&
    object?.type === 'ObjectExpression' &&
    arrow?.type === 'ArrowFunctionExpression' &&
    call !== undefined &&
    nameOf(call['callee'] as Node).endsWith('.map') &&
    isTopLevelConstant(call.parent)
  );
}

function ancestors(node: Node): Node[] {
  const found: Node[] = [];
  for (let at = node.parent; at.type !== 'Program'; at = at.parent) {
    if (at.type !== 'ParenthesizedExpression') found.push(at);
  }
  return found;
}

/** `a.b` of a member or a name. */
function nameOf(node: Node): string {
  const { name, object, property } = node as unknown as { name?: string; object?: Node; property?: Node };
  if (object === undefined || property === undefined) return name ?? '';
  return `${nameOf(object)}.${nameOf(property)}`;
}

/** Backup and restore write all tables, and so do migrations. */
const tableOwner = rule((report, path) => {
  const module = moduleOf(path);
  if (!isStatementPlace(path) || module === undefined || module === 'backup') return {};
  const check = (node: Node): void => {
    for (const [, table = ''] of textOf(node).matchAll(/\b(?:insert into|update|delete from)\s+(\w+)/gi)) {
      const owner = owners.get(table);
      if (owner !== undefined && owner !== module) report(node, `only the store of ${owner} writes ${table}`);
    }
  };
  return { Literal: check, TemplateLiteral: check };
});

const moduleOf = (path: string): string | undefined =>
  path.startsWith(modulesFolder) ? path.slice(modulesFolder.length).split('/')[0] : undefined;

/** @param check gets the path of each imported file, from the root */
function importVisitor(path: string, check: (node: Node, file: string) => void): Visitor {
  const checkText = (node: Node): void => check(node, join(dirname(path), textOf(node)).replaceAll('\\', '/'));
  const checkSource = (node: Node): void => void (node['source'] && checkText(node['source'] as Node));
  return {
    ImportDeclaration: checkSource,
    ImportExpression: checkSource,
    ExportNamedDeclaration: checkSource,
    ExportAllDeclaration: checkSource,
    // The file of a worker thread.
    NewExpression: (node) =>
      nameOf(node['callee'] as Node) === 'URL' && checkText((node['arguments'] as Node[])[0] ?? node),
  };
}

const moduleOrder = rule((report, path) => {
  const module = moduleOf(path);
  if (module === undefined) return {};
  return {
    Program: (node) => void (modules.includes(module) || report(node, `ARCHITECTURE.md has no module ${module}`)),
    ...importVisitor(path, (node, file) => {
      const target = moduleOf(file);
      if (target !== undefined && modules.indexOf(target) > modules.indexOf(module))
        report(node, `${module} may not import ${target}, which is below it in ARCHITECTURE.md`);
    }),
  };
});

const publicFilesOnly = rule((report, path) =>
  importVisitor(path, (node, file) => {
    const target = moduleOf(file);
    if (target !== undefined && target !== moduleOf(path) && !publicFiles.has(file.slice(modulesFolder.length)))
      report(node, `scripts/public-files.txt does not name this file of ${target} as public`);
  }),
);

const injectedTime = rule((report) => ({
  NewExpression(node) {
    if (nameOf(node['callee'] as Node) === 'Date' && (node['arguments'] as Node[]).length === 0)
      report(node, 'take the time from the clock');
  },
  CallExpression: (node) => nameOf(node['callee'] as Node) === 'Date' && report(node, 'take the time from the clock'),
}));

/** A comparison that stops at the first difference reveals how much of a guess was right. */
const constantTimeSecrets = rule((report, _path, { sourceCode }) => ({
  BinaryExpression(node) {
    if (!/^[!=]==?$/.test(String(node['operator']))) return;
    const [left, right] = [node['left'], node['right']].map((side) => sourceCode.getText(side as Node));
    const isSecret = /(?:[hH]ash|[mM]ac|[tT]ag|[sS]ecret|[pP]assword)(?:\.reveal\(\))?$/.test(left ?? '');
    if (isSecret && !['undefined', 'null', 'true', 'false', "''"].includes(right ?? ''))
      report(node, 'compare secrets with timingSafeEqual()');
  },
}));

const isNumber = (node: unknown): boolean => typeof (node as { value?: unknown } | null)?.value === 'number';

/** A test awaits a condition (`until.ts`), the clock of the test, or a program (`time-limits.ts`). */
const noTestBounds = rule((report) => ({
  CallExpression(node) {
    if (/^(?:setTimeout|AbortSignal\.timeout)$/.test(nameOf(node['callee'] as Node)))
      report(node, 'await a condition with until(), or advance the clock that the code gets');
  },
  Property(node) {
    if (/^timeout(?:Ms)?$/.test(nameOf(node['key'] as Node)) && isNumber(node['value']))
      report(node, 'the watchdog bounds a test; programs get programMsMax');
  },
  VariableDeclarator(node) {
    if (/(?:^m|M)sMax$|[tT]imeoutMs$/.test(nameOf(node['id'] as Node)) && isNumber(node['init']))
      report(node, 'the watchdog bounds a test; programs get programMsMax');
  },
}));

const patterns = new RegExpParser();

/** Of a string, or of `String.raw` without values. */
function constantText(node: Node | undefined): string | undefined {
  if (typeof node?.['value'] === 'string') return node['value'];
  const quasis = (node?.['quasi'] as { quasis: { value: { raw: string } }[] } | undefined)?.quasis;
  return quasis?.length === 1 ? quasis[0]?.value.raw : undefined;
}

/** A client can choose most texts that the program reads, and one thread serves all clients. */
const linearPatterns = rule((report) => {
  const check = (node: Node, pattern: string, flags: string): void => {
    const literal = patterns.parseLiteral(`/${pattern.replaceAll('/', String.raw`\/`)}/${flags}`);
    const [found] = analyse({ pattern: literal.pattern, flags: literal.flags }).reports;
    if (found) report(node, `some texts of n characters take ${found.exponential ? '2^n' : 'n²'} steps`);
  };
  const checkText = (node: Node, source: unknown, flags = ''): void => {
    const text = constantText(source as Node | undefined);
    if (text !== undefined) check(node, text, flags);
  };
  return {
    Literal(node) {
      const regex = node['regex'] as { pattern: string; flags: string } | undefined;
      if (regex) check(node, regex.pattern.replaceAll(String.raw`\/`, '/'), regex.flags);
    },
    NewExpression(node) {
      const [source, flags] = node['arguments'] as Node[];
      if (nameOf(node['callee'] as Node) === 'RegExp') checkText(node, source, constantText(flags));
    },
    Property(node) {
      if (nameOf(node['key'] as Node) === 'pattern') checkText(node, node['value'], 'u');
    },
  };
});

/** The places that decide what an unknown outcome means, below `packages/server/src/`. */
const outcomePlaces: readonly string[] = [
  'foundation/database/',
  'foundation/errors.ts',
  'cli/failure.ts',
  'modules/deletion-journal/run-narrowing.ts',
  // A rotation that may have been committed needs the lists of the journal.
  'modules/deletion-journal/change-key.ts',
  // They count unknown outcomes, and remove no rights.
  'modules/key-limits/key-limits.ts',
  'modules/key-usage/use-records.ts',
];

const unknownOutcomes = rule((report, path) => {
  const [, below] = path.split('packages/server/src/');
  if (below === undefined || outcomePlaces.some((place) => below.startsWith(place))) return {};
  return {
    Identifier: (node) =>
      node['name'] === 'isOutcomeUnknown' && report(node, 'make a change that removes rights with runNarrowing()'),
  };
});

const vagueNames = /^(?:utils?|helpers?|common|misc|shared|lib|stuff)(?:\.|$)/;

const fileNames = rule((report, path) => ({
  Program(node) {
    if ([basename(path), ...path.split('/')].some((part) => vagueNames.test(part)))
      report(node, 'name the file or folder after its subject');
  },
}));

const filePurpose = rule((report, _path, { sourceCode }) => ({
  Program(node) {
    const start = sourceCode.text.replace(/^#!.*\n/, '');
    if (!/^(?:\/\*\*?\s+(?:\*\s+)?[^\s*].{10,}|\/\/ .{10,})/.test(start))
      report(node, 'begin the file with a comment that states its purpose');
  },
}));

const explainedExceptions = rule((report, _path, { sourceCode }) => ({
  Program() {
    for (const comment of sourceCode.getAllComments()) {
      if (/(?:eslint|oxlint)-disable(?!(?:-next)?-line [\w/-]+ -- )/.test(comment.value))
        report(comment, 'disable one rule on one line, and give the reason after “--”');
    }
  },
}));

export default {
  meta: { name: 'keyreeve' },
  rules: {
    'sql-in-stores': sqlInStores,
    'constant-statements': constantStatements,
    'table-owner': tableOwner,
    'module-order': moduleOrder,
    'public-files': publicFilesOnly,
    'injected-time': injectedTime,
    'constant-time-secrets': constantTimeSecrets,
    'no-test-bounds': noTestBounds,
    'linear-patterns': linearPatterns,
    'unknown-outcomes': unknownOutcomes,
    'file-names': fileNames,
    'file-purpose': filePurpose,
    'explained-exceptions': explainedExceptions,
  },
};
