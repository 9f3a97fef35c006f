/**
 * The documentation at `/docs`: guides, the API reference, and the files that they link. It is the same for every client, and not part of
 * the HTTP contract: other programs use `/openapi.json`.
 */
import Type from 'typebox';
import { docsPath, type RouteContract } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { notBuilt, pagePolicy, type BuiltFiles } from '../../http/built-files.ts';
import type { ContentRequest } from '../../http/fixed-content.ts';
import type { RouteResponse } from '../../http/response.ts';
import { route, type Route } from '../../http/route.ts';

const start = {
  id: 'documentation',
  method: 'GET',
  path: docsPath,
  tag: 'Contract',
  summary: 'Read the documentation',
  auth: 'none',
  success: { status: 200, description: 'A page', contentType: 'text/html; charset=utf-8' },
  errors: [],
} as const satisfies RouteContract;

const guide = {
  ...start,
  id: 'documentationPage',
  path: `${docsPath}/*`,
  params: Type.Object({ rest: Type.String() }),
  success: { status: 200, description: 'A page, or a file that pages link' },
  errors: ['not_found'],
} as const satisfies RouteContract;

const asset = {
  ...guide,
  id: 'documentationAsset',
  path: `${docsPath}/assets/:build/:name`,
  params: Type.Object({ build: Type.String(), name: Type.String() }),
  success: { status: 200, description: 'The file' },
} as const satisfies RouteContract;

const startName = 'index';

export function guideRoutes(files: BuiltFiles): readonly Route[] {
  /** @param name such as `tutorials/gin`, or `forward-auth/nginx.conf` */
  const answer = async (name: string, request: ContentRequest): Promise<RouteResponse> => {
    const build = await files.get();
    if (!build) return notBuilt('The documentation is');
    const page = build.files.get(`${name}.html`);
    if (page) return page.respond(request, { policy: pagePolicy });
    const last = name === '' ? docsPath.slice(1) : name.endsWith('/') ? name.split('/').at(-2) : undefined;
    // As people type it. Links are relative, so each page has one path.
    if (last !== undefined && (name === '' || build.files.has(`${name.slice(0, -1)}.html`)))
      return { status: 303, headers: ['Location', `../${last}`] };
    const file = isPublished(name) ? build.files.get(name) : undefined;
    if (!file) throw new DomainError('not_found');
    return file.respond(request);
  };
  return [
    route(start, ({ contentRequest }) => answer(startName, contentRequest)),
    {
      ...route(guide, ({ params, contentRequest }) => answer(params.rest, contentRequest)),
      covers: (path) => ![startName, `${startName}/`].includes(path.slice(docsPath.length + 1)),
    },
    route(asset, ({ params: { build, name }, contentRequest }) =>
      files.respond(build, `assets/0/${name}`, contentRequest),
    ),
  ];
}

/** Pages have no ending, and what they load has the hash of the build in its path. */
const isPublished = (name: string): boolean => !name.endsWith('.html') && !name.startsWith('assets/');
