/**
 * Finds a route by path and method. A segment `:name` is a parameter, and `*` at the end is for the rest of the path, which is the parameter `rest`. Paths
 * without parameters take precedence, then those without `*`.
 */
import type { Route } from './route.ts';

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The path exists, but not with this method. */
export interface WrongMethod {
  readonly allowed: readonly string[];
}

interface Pattern {
  /** Undefined for a parameter. */
  readonly fixed: readonly (string | undefined)[];
  readonly names: readonly string[];
  readonly routes: Map<string, Route>;
}

export class Router {
  readonly #fixed = new Map<string, Map<string, Route>>();
  /** By path, with an empty segment for each parameter. */
  readonly #patterns = new Map<string, Pattern>();
  readonly #rests: Route[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const { path, method } = route.contract;
      if (path.endsWith('/*')) this.#rests.push(route);
      else this.#methodsOf(path).set(method, route);
    }
  }

  /**
   * HEAD is handled like GET; Node omits the content (RFC 9110 section 9.3.2). A path of several routes, such as `/keys/public`
   * and `/keys/:id`, has the methods of all of them.
   */
  find(method: string, path: string): Match | WrongMethod | undefined {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const fixed = this.#fixed.get(path);
    const route = fixed?.get(wanted);
    if (route) return { route, params: {} };
    const others = fixed ? [fixed] : [];
    const segments = path.split('/');
    for (const pattern of this.#patterns.values()) {
      const params = paramsOf(pattern, segments);
      if (!params) continue;
      const found = pattern.routes.get(wanted);
      if (found) return { route: found, params };
      others.push(pattern.routes);
    }
    if (others.length === 0) return this.#findRest(wanted, path);
    return wrongMethod(others.flatMap((routes) => [...routes.keys()]));
  }

  #findRest(method: string, path: string): Match | WrongMethod | undefined {
    const found = this.#rests.filter(
      ({ contract, covers }) => path.startsWith(contract.path.slice(0, -1)) && covers?.(path) !== false,
    );
    const route = found.find(({ contract }) => contract.method === method);
    if (route) return { route, params: { rest: path.slice(route.contract.path.length - 1) } };
    return found.length === 0 ? undefined : wrongMethod(found.map(({ contract }) => contract.method));
  }

  #methodsOf(path: string): Map<string, Route> {
    if (!path.includes(':')) return getOrAdd(this.#fixed, path, () => new Map());
    const segments = path.split('/');
    const names = segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1));
    const fixed = segments.map((segment) => (segment.startsWith(':') ? undefined : segment));
    const pattern = getOrAdd(this.#patterns, fixed.join('/'), () => ({ fixed, names, routes: new Map() }));
    if (pattern.names.join('/') !== names.join('/'))
      throw new Error(`${path}: another route names the same parameters differently`);
    return pattern.routes;
  }
}

const wrongMethod = (methods: readonly string[]): WrongMethod => ({
  allowed: [...new Set(methods)].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
});

/** @returns undefined if the path does not match */
function paramsOf({ fixed, names }: Pattern, segments: readonly string[]): Match['params'] | undefined {
  if (fixed.length !== segments.length) return undefined;
  if (!fixed.every((text, index) => text === undefined || text === segments[index])) return undefined;
  const values = segments.filter((_, index) => fixed[index] === undefined).map(decode);
  if (values.some((value) => !value)) return undefined;
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}

/** @returns undefined for invalid percent-encoding */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}
