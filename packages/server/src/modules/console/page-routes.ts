/**
 * The pages of the console and their files. Every page has the same document, whose script reads the path. They are static
 * and the same for every client. They are not part of the HTTP contract: other programs use the API.
 */
import Type from 'typebox';
import type { RouteContract } from '@keyreeve/contract';
import { notBuilt, pagePolicy, type BuiltFiles } from '../../http/built-files.ts';
import type { RouteResponse } from '../../http/response.ts';
import { route, type Call, type Route } from '../../http/route.ts';
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

export function consolePageRoutes(files: BuiltFiles): readonly Route[] {
  const answerPage = async ({ contentRequest }: Call): Promise<RouteResponse> => {
    const found = (await files.get())?.files.get('index.html');
    return found?.respond(contentRequest, { policy: pagePolicy }) ?? notBuilt('The console is');
  };
  return [
    route(page, answerPage),
    { ...route(subPage, answerPage), covers: isPagePath },
    route(asset, ({ params, contentRequest }) => files.respond(params.build, params.name, contentRequest)),
  ];
}
