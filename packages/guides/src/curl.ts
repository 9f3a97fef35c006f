/** A curl command for each operation. It uses the shell variables that the reference page defines. */
import { exampleOf, type RouteAuth, type RouteContract } from '@keyreeve/contract';

const credentials: Readonly<Record<RouteAuth, readonly string[]>> = {
  none: [],
  password: ['-u "ada@example.com:$PASSWORD"'],
  access_token: ['-H "Authorization: Bearer $ACCESS_TOKEN"'],
  administrator: ['-H "Authorization: Bearer $ACCESS_TOKEN"'],
  one_time_code: [],
  refresh_token: [],
  service_key: ['-H "X-API-Key: $SERVICE_KEY"'],
  manager: ['-H "Authorization: Bearer $ACCESS_TOKEN"'],
  management_key: ['-H "X-API-Key: $MANAGEMENT_KEY"'],
  canary_credential: ['-H "X-API-Key: $CANARY_CREDENTIAL"'],
  portal_session: ['-H "Authorization: Bearer $PORTAL_SECRET"'],
  console_session: ['-b "$CONSOLE_COOKIE"'],
  console_sign_in: [],
  any_credential: ['-H "Authorization: Bearer $API_KEY"'],
};

/** The path and the body contain the example values of the schemas. */
export function curlOf(route: RouteContract): string {
  const { method, auth, body } = route;
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "$BASE_URL${pathOf(route)}"`,
    ...credentials[auth],
    ...headersOf(route),
    ...(body ? bodyOf(body) : []),
  ];
  return parts.join(' \\\n  ');
}

function pathOf({ path, params }: RouteContract): string {
  const examples = (params === undefined ? {} : exampleOf(params)) as Readonly<Record<string, unknown>>;
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(examples[name])));
}

/** Those that the route requires. */
function headersOf({ headers }: RouteContract): string[] {
  const { required = [] } = (headers ?? {}) as { readonly required?: readonly string[] };
  const examples = (headers ? exampleOf(headers) : {}) as Readonly<Record<string, string>>;
  return required.map((name) => `-H ${quoted(`${name}: ${examples[name]}`)}`);
}

function bodyOf({ type, schema }: NonNullable<RouteContract['body']>): string[] {
  const example = exampleOf(schema) as Readonly<Record<string, unknown>>;
  if (type !== 'form')
    return [`-H ${quoted('Content-Type: application/json')}`, `-d ${quoted(JSON.stringify(example))}`];
  return Object.entries(example).map(([name, value]) => `--data-urlencode ${quoted(`${name}=${String(value)}`)}`);
}

/** POSIX shells: between single quotes, only the single quote is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
