/** Sends a request to the API in JSON, and turns failures into problems. */
import type { AnyRequest } from './api-types.ts';
import { Problem, unreachable } from './problem.ts';
import { basePath } from './root.ts';

/** A route, and how its caller proves who it is. */
export interface Address {
  readonly method: string;
  /** Below the base path of the service, with the names of its parameters. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: RequestCredentials;
}

/** @param route such as `POST /auth/api-keys` */
export function partsOf(route: string): [method: string, path: string] {
  const space = route.indexOf(' ');
  return [route.slice(0, space), route.slice(space + 1)];
}

/** @returns the body of the response; undefined if it has none. @throws Problem */
export async function exchange(of: Address, request: AnyRequest = {}): Promise<unknown> {
  const response = await fetchOf(of, request);
  if (response.status === 204) return undefined;
  return response.json().catch((error: unknown) => {
    throw request.signal?.aborted ? error : unreachable();
  });
}

/** @returns a response with a status of success. @throws Problem */
export async function fetchOf({ method, path, ...own }: Address, request: AnyRequest = {}): Promise<Response> {
  const { params = {}, query = {}, body, signal } = request;
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams();
  // An empty filter sends no parameter.
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value));
  const headers: Record<string, string> = {
    Accept: 'application/json',
    ...own.headers,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const response = await fetch(basePath + (search.size > 0 ? `${url}?${search}` : url), {
    method,
    headers,
    credentials: own.credentials,
    redirect: 'error',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable();
  });
  if (!response.ok) throw await Problem.from(response);
  return response;
}
