/**
 * The key page, its files, and the script of the element that shows it. They are not part of the HTTP contract. The public id in the
 * path states which origin may show the page in a frame; it gives no other right.
 */
import Type from 'typebox';
import type { RouteContract } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { notBuilt, pagePolicyFor, type BuiltFiles } from '../../http/built-files.ts';
import { escapeHtml } from '../../http/html.ts';
import type { RouteResponse } from '../../http/response.ts';
import { route, type Route } from '../../http/route.ts';
import type { PortalSessions } from './sessions.ts';
import type { PortalRow } from './store.ts';

const page = {
  id: 'portalPage',
  method: 'GET',
  path: '/portal/:id',
  tag: 'Key page',
  summary: 'Open the key page',
  auth: 'none',
  readsDatabase: true,
  params: Type.Object({ id: Type.String() }),
  headers: Type.Object({ 'Sec-Fetch-Dest': Type.Optional(Type.String()) }),
  success: { status: 200, description: 'The page', contentType: 'text/html; charset=utf-8' },
  errors: [],
} as const satisfies RouteContract;

const asset = {
  id: 'portalAsset',
  method: 'GET',
  path: '/portal/assets/:build/:name',
  tag: 'Key page',
  summary: 'Get a file of the key page',
  auth: 'none',
  params: Type.Object({ build: Type.String(), name: Type.String() }),
  success: { status: 200, description: 'The file' },
  errors: ['not_found'],
} as const satisfies RouteContract;

const element = {
  id: 'portalElement',
  method: 'GET',
  path: '/portal/keys.js',
  tag: 'Key page',
  summary: 'Get the script of the element that shows the key page',
  auth: 'none',
  success: { status: 200, description: 'The script', contentType: 'text/javascript; charset=utf-8' },
  errors: ['not_found'],
} as const satisfies RouteContract;

const elementName = 'keys.js';

export function portalPageRoutes(sessions: Pick<PortalSessions, 'find'>, files: BuiltFiles): readonly Route[] {
  return [
    route(page, async ({ params, header }) => {
      const row = await sessions.find(params.id);
      if (!row) return refused(404, 'This page has ended. Load it again from the application in which you use it.');
      const found = (await files.get())?.files.get('index.html');
      if (!found) return notBuilt('The key page is');
      return isExpected(row, header('Sec-Fetch-Dest')) ? pageOf(row, found.text) : refused(403, wrongPlaceOf(row));
    }),
    route(asset, ({ params, contentRequest }) => files.respond(params.build, params.name, contentRequest)),
    // Pages of all origins load it, also with `crossorigin` and `integrity`.
    route(element, async ({ contentRequest }) => {
      const found = (await files.get())?.files.get(elementName);
      if (!found) throw new DomainError('not_found');
      return found.respond(contentRequest, {
        headers: ['Access-Control-Allow-Origin', '*'],
        resourcePolicy: 'cross-origin',
      });
    }),
  ];
}

/** Browsers state where a response is used. One that does not state it applies `frame-ancestors` as well. */
const isExpected = ({ data }: PortalRow, destination: string | undefined): boolean =>
  destination === undefined || destination === (data.origin === undefined ? 'document' : 'iframe');

const wrongPlaceOf = ({ data }: PortalRow): string =>
  data.origin === undefined
    ? 'This page opens only as a page of its own, without a frame.'
    : 'This page opens only in the application in which you use it.';

/** The script sends messages only to the origin that the page states, which is why the server writes it. */
const pageOf = ({ data: { origin } }: PortalRow, template: string): RouteResponse => ({
  status: 200,
  contentType: 'text/html; charset=utf-8',
  cacheControl: 'no-store',
  policy: pagePolicyFor(origin ?? "'none'"),
  // Pages with `Cross-Origin-Embedder-Policy: require-corp` can show the frame.
  resourcePolicy: 'cross-origin',
  headers: [
    'Cross-Origin-Embedder-Policy',
    'require-corp',
    'Origin-Agent-Cluster',
    '?1',
    'Permissions-Policy',
    'clipboard-write=(self)',
  ],
  body: template
    .replaceAll('{{origin}}', () => escapeHtml(origin ?? ''))
    .replaceAll('{{display}}', origin === undefined ? 'page' : 'frame'),
});

/** Without the policy of the page: no other page can show it. */
const refused = (status: 403 | 404, text: string): RouteResponse => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${text}\n`,
});
