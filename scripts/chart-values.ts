/** The README of the Helm chart: a table of the values, from the comments of `values.yaml`. */
import { readFileSync } from 'node:fs';
import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from 'yaml';
import { withMarkedTables } from './marked-tables.ts';

const chart = new URL('../ops/helm/keyreeve/', import.meta.url);
const textOf = (name: string): string => readFileSync(new URL(name, chart), 'utf8');

interface Value {
  /** Such as `image.tag`. */
  readonly path: string;
  /** In JSON; undefined if it is empty, and for a map whose values have comments of their own. */
  readonly default: string | undefined;
  readonly comment: string;
}

/** A map is one value, unless a value in it has a comment. */
function valuesOf(map: YAMLMap, prefix = ''): Value[] {
  return map.items.flatMap((item): Value[] => {
    const { key, value } = item;
    const path = `${prefix}${isScalar(key) ? String(key.value) : ''}`;
    const comment = commentOf(map, item);
    if (!isMap(value) || !hasComments(value)) return [{ path, default: defaultOf(JSON.stringify(value)), comment }];
    const own = comment === '' ? [] : [{ path, default: undefined, comment }];
    return [...own, ...valuesOf(value, `${path}.`)];
  });
}

const defaultOf = (json: string): string | undefined => (['""', '[]', '{}'].includes(json) ? undefined : json);

/** The parser gives the comment of the first value to its map. Of several paragraphs, the last one. */
function commentOf(map: YAMLMap, item: Pair): string {
  const own = isScalar(item.key) ? item.key.commentBefore : undefined;
  const text = own ?? (item === map.items[0] ? map.commentBefore : undefined) ?? '';
  return (text.split(/\n\s*\n/).at(-1) ?? '').trim().replaceAll(/\n\s*/g, ' ');
}

const hasComments = (map: YAMLMap): boolean => map.items.some((item) => commentOf(map, item) !== '');

/** Links to pages, which are two folders above the chart. */
const linked = (comment: string): string =>
  comment.replaceAll(/\bdocs\/([\w-]+)\.md/g, (path, name) => `[${name}](../../../${path})`);

const shown = ({ path, default: fallback }: Value): string =>
  fallback === undefined ? `\`${path}\`` : `\`${path}\` (\`${fallback}\`)`;

/** The page with a new table. Its last row has the values without a comment. */
export function chartReadme(): string {
  const document = parseDocument(textOf('values.yaml'));
  if (!isMap(document.contents)) throw new Error('values.yaml is not a map');
  const { explained = [], others = [] } = Object.groupBy(valuesOf(document.contents), ({ comment }) =>
    comment === '' ? 'others' : 'explained',
  );
  const rows = explained.map((value) => `${shown(value)} | ${linked(value.comment).replaceAll('|', '\\|')}`);
  const last = `${others.map(({ path }) => `\`${path}\``).join(', ')} | as in Kubernetes`;
  return withMarkedTables(textOf('README.md'), { values: ['value (default) | meaning', '--- | ---', ...rows, last] });
}
