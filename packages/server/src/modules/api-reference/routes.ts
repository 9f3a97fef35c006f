/** The contract about itself: OpenAPI, a page to read it on, and a page for each error code. */
import { createHash } from 'node:crypto';
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { problemPage, rootPage, style } from './pages.ts';
import { referencePage, referenceStyle } from './reference-page.ts';
import { route, type Route } from '../../http/route.ts';

/** A page holds text and one style sheet, which its policy names by its hash: nothing else is shown, loaded or run. */
const policyOf = (sheet: string): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(sheet).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** @param publicUrl where clients reach this installation */
export function contractRoutes(publicUrl: string): readonly Route[] {
  const document = kept(() => JSON.stringify(contract.openApiDocument(contract.allRoutes)));
  const docs = kept(() => referencePage(contract.allRoutes, publicUrl));
  const page = (sheet: string) => ({ status: 200, contentType: 'text/html; charset=utf-8', policy: policyOf(sheet) });
  return [
    route(contract.getRoot, async ({ prefersPage }) => {
      const headers = ['Vary', 'Accept'];
      return prefersPage ? { ...page(style), headers, body: rootPage(info) } : { status: 200, headers, body: info };
    }),
    route(contract.getOpenApi, async () => ({ status: 200, body: document() })),
    route(contract.getDocs, async () => ({ ...page(referenceStyle), body: docs() })),
    route(contract.getProblem, async ({ params: { code } }) => {
      if (!Object.hasOwn(contract.errors, code)) throw new DomainError('not_found');
      return { ...page(style), body: problemPage(code as contract.ErrorCode) };
    }),
  ];
}

/** Not the program's version: no response discloses it (ASVS 13.4.6). The document publishes the contract's anyway. */
const info = {
  name: 'Keyreeve',
  contractVersion: contract.contractVersion,
  docs: contract.getDocs.path,
  openapi: contract.getOpenApi.path,
  jwks: contract.getJwks.path,
  health: contract.ready.path,
} as const;

/** Made when first asked for, and once. */
function kept(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}
