/** Health checks, and the routes that publish the contract. */
import Type from 'typebox';
import { Named } from './named.ts';
import { route } from './route.ts';
import { ErrorCodes } from './schemas.ts';

export const Health = Named('Health', { status: Type.Literal('ok') });
export const Readiness = Named('Readiness', {
  status: Type.Literal('ok'),
  writes: Type.Boolean({
    description: 'Whether changes can be committed. Verifications continue when it is false.',
  }),
});

export const live = route('live', 'GET /health/live', {
  tag: 'Health',
  summary: 'Check that the process runs',
  auth: 'none',
  success: { status: 200, description: 'It runs', schema: Health },
});

export const ready = route('ready', 'GET /health/ready', {
  tag: 'Health',
  summary: 'Check that the instance can serve requests',
  description: '503 while the database cannot be reached or the instance is stopping.',
  auth: 'none',
  success: { status: 200, description: 'It can serve requests', schema: Readiness },
  errors: ['unavailable'],
});

const OpenApiDocument = Type.Object(
  {},
  {
    additionalProperties: true,
    examples: [{ openapi: '3.1.1', info: { title: 'Keyreeve', version: '1.0.0' }, paths: {} }],
  },
);

export const getOpenApi = route('getOpenApi', 'GET /openapi.json', {
  tag: 'Contract',
  summary: 'Get this contract as an OpenAPI 3.1 document',
  auth: 'none',
  success: { status: 200, description: 'The document', schema: OpenApiDocument, isFixed: true },
});

/** The documentation, for people. It is not part of the contract. */
export const docsPath = '/docs';

export const getProblem = route('getProblem', 'GET /problems/:code', {
  tag: 'Contract',
  summary: 'Read about an error code',
  auth: 'none',
  params: Type.Object({ code: ErrorCodes }),
  success: { status: 200, description: 'A page', contentType: 'text/html; charset=utf-8', isFixed: true },
  errors: ['not_found'],
});

const Path = (path: string) => Type.String({ examples: [path] });
export const ServiceInfo = Named('ServiceInfo', {
  name: Type.Literal('Keyreeve'),
  contractVersion: Type.String({
    description: 'Version of the HTTP contract, as in /openapi.json. The version of the program is not disclosed',
    examples: ['1.0.0'],
  }),
  docs: Type.Optional(Path(docsPath)),
  openapi: Path('/openapi.json'),
  jwks: Path('/.well-known/jwks.json'),
  health: Path('/health/ready'),
});

export const getRoot = route('getRoot', 'GET /', {
  tag: 'Contract',
  summary: 'Get information about the service',
  description:
    'JSON. A browser (`Accept: text/html`) is redirected to the console (303), or gets a small page if the console is off or has another host.',
  auth: 'none',
  success: {
    status: 200,
    description: 'The name, the version of the contract, and links',
    schema: ServiceInfo,
    isFixed: true,
  },
});
