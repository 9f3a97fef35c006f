/** Finds a route by path and method. A segment `:name` is a parameter. Paths without parameters take precedence. */
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
  readonly #patterns: Pattern[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#methodsOf(route.contract.path).set(route.contract.method, route);
  }

  /**
   * HEAD is handled like GET; Node omits the content (RFC 9110 section 9.3.2). A path of several routes, such as `/keys/public`
   * and `/keys/:id`, has the methods of all of them.
   */
  find(method: string, path: string): Match | WrongMethod | undefined {
    const allowed = new Set<string>();
    for (const { routes, params } of this.#lookUp(path)) {
      const route = routes.get(method === 'HEAD' ? 'GET' : method);
      if (route) return { route, params };
      for (const other of routes.keys()) allowed.add(other);
    }
    if (allowed.size === 0) return undefined;
    return { allowed: [...allowed].flatMap((other) => (other === 'GET' ? ['GET', 'HEAD'] : [other])) };
  }

  *#lookUp(path: string): Generator<{ routes: Map<string, Route>; params: Record<string, string> }> {
    const routes = this.#fixed.get(path);
    if (routes) yield { routes, params: {} };
    const segments = path.split('/');
    for (const { fixed, names, routes: found } of this.#patterns) {
      if (fixed.length !== segments.length) continue;
      if (!fixed.every((text, index) => text === undefined || text === segments[index])) continue;
      const values = segments.filter((_, index) => fixed[index] === undefined).map(decode);
      if (values.some((value) => !value)) continue;
      yield { routes: found, params: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])) };
    }
  }

  #methodsOf(path: string): Map<string, Route> {
    const segments = path.split('/');
    const names = segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1));
    if (names.length === 0) return getOrAdd(this.#fixed, path, () => new Map());
    const fixed = segments.map((segment) => (segment.startsWith(':') ? undefined : segment));
    const same = this.#patterns.find((other) => other.fixed.join('/') === fixed.join('/'));
    const pattern = same ?? { fixed, names, routes: new Map<string, Route>() };
    if (pattern.names.join('/') !== names.join('/'))
      throw new Error(`${path}: another route names the same parameters differently`);
    if (!same) this.#patterns.push(pattern);
    return pattern.routes;
  }
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
