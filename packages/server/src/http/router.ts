/** Finding a route by path and method. Paths are fixed but for a last segment `:name`. */
import type { Route } from './route.ts';

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** A path that exists, but not with this method. */
export interface WrongMethod {
  readonly allowed: readonly string[];
}

export class Router {
  readonly #fixed = new Map<string, Map<string, Route>>();
  /** By the path up to and with the last slash. */
  readonly #withParameter = new Map<string, { name: string; routes: Map<string, Route> }>();

  /** @throws Error for a path that it couldn't find */
  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#methodsOf(route.contract.path).set(route.contract.method, route);
  }

  /** A HEAD is a GET whose body isn't sent (RFC 9110 section 9.3.2). */
  find(method: string, path: string): Match | WrongMethod | undefined {
    const { routes, params } = this.#lookUp(path) ?? {};
    if (!routes || !params) return undefined;
    const route = routes.get(method === 'HEAD' ? 'GET' : method);
    if (route) return { route, params };
    return { allowed: [...routes.keys()].flatMap((allowed) => (allowed === 'GET' ? ['GET', 'HEAD'] : [allowed])) };
  }

  #lookUp(path: string): { routes: Map<string, Route>; params: Record<string, string> } | undefined {
    const routes = this.#fixed.get(path);
    if (routes) return { routes, params: {} };
    const slash = path.lastIndexOf('/') + 1;
    const parametric = this.#withParameter.get(path.slice(0, slash));
    const value = decode(path.slice(slash));
    return parametric && value ? { routes: parametric.routes, params: { [parametric.name]: value } } : undefined;
  }

  #methodsOf(path: string): Map<string, Route> {
    const colon = path.indexOf('/:') + 1;
    if (colon === 0) return getOrAdd(this.#fixed, path, () => new Map());
    if (path.includes('/', colon)) throw new Error(`${path}: only the last segment may be a parameter`);
    return getOrAdd(this.#withParameter, path.slice(0, colon), () => ({
      name: path.slice(colon + 1),
      routes: new Map(),
    })).routes;
  }
}

/** Once, strictly: what is not valid percent-encoding names nothing. */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const present = map.get(key);
  if (present !== undefined) return present;
  const made = make();
  map.set(key, made);
  return made;
}
