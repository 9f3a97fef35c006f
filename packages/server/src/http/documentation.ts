/** The contract about itself: OpenAPI, a page to read it on, and a page for each error code. */
import { createHash } from 'node:crypto';
import * as contract from '@keyreeve/contract';
import { DomainError } from '../errors.ts';
import { docsPage, problemPage, style } from './pages.ts';
import { route, type Route } from './route.ts';

/** The pages hold text and one style sheet, which is named by its hash: nothing else is shown, loaded or run. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function contractRoutes(): readonly Route[] {
  const document = kept(() => JSON.stringify(contract.openApiDocument(contract.allRoutes)));
  const docs = kept(() => docsPage(contract.allRoutes));
  const page = { status: 200, contentType: 'text/html; charset=utf-8', policy };
  return [
    route(contract.getOpenApi, async () => ({ status: 200, body: document() })),
    route(contract.getDocs, async () => ({ ...page, body: docs() })),
    route(contract.getProblem, async ({ params: { code } }) => {
      if (!Object.hasOwn(contract.errors, code)) throw new DomainError('not_found');
      return { ...page, body: problemPage(code as contract.ErrorCode) };
    }),
  ];
}

/** Made when first asked for, and once. */
function kept(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}
