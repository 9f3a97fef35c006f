/**
 * The pages of the console and their files. Every page has the same document, whose script reads the path. They are static
 * and the same for every client. They are not part of the HTTP contract: other programs use the API.
 */
import Type from 'typebox';
import type { RouteContract } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { RouteResponse } from '../../http/response.ts';
import { route, type Call, type Route } from '../../http/route.ts';
import type { ConsoleAssets } from './assets.ts';
import { isPagePath } from './paths.ts';

const page = {
  id: 'consolePage',
  method: 'GET',
  path: '/console',
  tag: 'Console',
  summary: 'Open the console',
  auth: 'none',
  success: { status: 200, description: 'A page', contentType: 'text/html; charset=utf-8' },
  errors: [],
} as const satisfies RouteContract;

const subPage = { ...page, id: 'consoleSubPage', path: '/console/*' } as const satisfies RouteContract;

const asset = {
  ...page,
  id: 'consoleAsset',
  path: '/console/assets/:build/:name',
  summary: 'Get a file of the console',
  params: Type.Object({ build: Type.String(), name: Type.String() }),
  success: { status: 200, description: 'The file' },
  errors: ['not_found'],
} as const satisfies RouteContract;

/**
 * Only files of the console run or are loaded, the page sends requests only to its origin, and a script cannot turn text
 * into HTML (Trusted Types).
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const missing =
  'The console is not built. In a checkout of Keyreeve, run `npm ci --include=dev && npm run build`, and start Keyreeve again. ' +
  'Otherwise install Keyreeve again. The API works without the console.\n';

export function consolePageRoutes(assets: ConsoleAssets): readonly Route[] {
  const answerPage = async ({ contentRequest }: Call): Promise<RouteResponse> => {
    const found = await assets.get();
    if (!found) return { status: 503, contentType: 'text/plain; charset=utf-8', body: missing };
    return found.page.respond(contentRequest, { policy });
  };
  return [
    route(page, answerPage),
    { ...route(subPage, answerPage), covers: isPagePath },
    route(asset, async ({ params, contentRequest }) => {
      const found = await assets.get();
      const file = found?.files.get(params.name);
      if (!found || !file) throw new DomainError('not_found');
      // During a rolling upgrade, the page may come from an instance with another build.
      const isCurrent = params.build === found.build;
      return file.respond(contentRequest, {
        cacheControl: isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
      });
    }),
  ];
}
