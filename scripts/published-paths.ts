/**
 * The paths that the Ingress and the HTTPRoute of the Helm chart publish, from the routes of the service: a path without a route is
 * not published, and those that verify credentials are in a list of their own.
 */
import { forward } from '@keyreeve/contract';
import { routesOf, type RouteOptions } from '../packages/server/src/app/routes.ts';
import { verificationRoutes } from '../packages/server/src/modules/verification/routes.ts';

export interface PublishedPath {
  /** Without parameters. */
  readonly path: string;
  /** `Prefix`: with all paths below it, element by element, as in an Ingress. */
  readonly type: 'Exact' | 'Prefix';
}

export interface PublishedPaths {
  readonly published: readonly PublishedPath[];
  readonly verification: readonly PublishedPath[];
}

/** Stands for every value that the list of routes takes, with every optional part: no handler of a route is called. */
// oxlint-disable-next-line typescript/no-explicit-any -- of all types
const anything: any = new Proxy(() => undefined, {
  get: (_, name): unknown => (name === Symbol.toPrimitive ? () => '' : anything),
  apply: (): unknown => anything,
});
/** A copy of the options has only the members that are named here. */
const look = { operator: '', mark: { contentType: 'image/png', bytes: new Uint8Array() }, accent: undefined };
const options = new Proxy(
  { isVerifying: false, look, basePath: anything },
  { get: (known, name): unknown => Reflect.get(known, name) ?? anything },
);

/** Paths of all routes except those that verify credentials, such as `/auth/api-keys/:id` and `/docs/*`. */
export const routePaths = (): readonly string[] => [
  ...new Set(routesOf(options as unknown as RouteOptions).map(({ contract }) => contract.path)),
];

/** @throws Error if a published prefix contains a path that verifies credentials */
export function publishedPaths(): PublishedPaths {
  const published = withoutCovered(
    [...Map.groupBy(routePaths(), startOf)].map(([start, paths]) => {
      const [only] = paths;
      const isOne = paths.length === 1 && only !== undefined && !/[:*]/.test(only);
      return isOne ? { path: only, type: 'Exact' } : { path: start, type: 'Prefix' };
    }),
  );
  const verification: PublishedPath[] = [
    // Envoy appends the path of the request.
    { path: forward.path, type: 'Prefix' },
    ...verificationRoutes(anything, anything).map(({ contract: { path } }) => ({ path, type: 'Exact' as const })),
  ];
  for (const { path } of verification) {
    const prefix = published.find((other) => isPublishedBy(other, path));
    if (prefix) throw new Error(`${prefix.path} would publish ${path}`);
  }
  return { published, verification };
}

/** The first two elements, without parameters. */
function startOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  return /^[:*]?$/.test(second.slice(0, 1)) ? `/${first}` : `/${first}/${second}`;
}

export const isPublishedBy = ({ path, type }: PublishedPath, requested: string): boolean =>
  requested === path || (type === 'Prefix' && requested.startsWith(`${path}/`));

function withoutCovered(paths: readonly PublishedPath[]): readonly PublishedPath[] {
  return paths
    .filter((each) => !paths.some((other) => other !== each && isPublishedBy(other, each.path)))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** The file of the chart. */
export function publishedPathsFile(): string {
  const list = (paths: readonly PublishedPath[]): string =>
    paths.map(({ path, type }) => `  - { path: ${path}, type: ${type} }\n`).join('');
  const { published, verification } = publishedPaths();
  return `# Made by \`npm run docs\` from the routes of the service.\npublished:\n${list(published)}verification:\n${list(verification)}`;
}
