/** The routes that publish the contract: OpenAPI, the reference page, a page for each error code and the page at `/`. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { problemPage, problemPolicy, rootPage, rootPolicy } from './pages.ts';
import { referencePage, referencePolicy } from './reference-page.ts';
import { route, type Route } from '../../http/route.ts';

/** @param publicUrl where clients reach this installation */
export function contractRoutes(publicUrl: string): readonly Route[] {
  const document = once(() => JSON.stringify(contract.openApiDocument(contract.allRoutes)));
  const docs = once(() => referencePage(contract.allRoutes, publicUrl));
  const page = (body: string, policy: string) => ({
    status: 200,
    contentType: 'text/html; charset=utf-8',
    policy,
    body,
  });
  return [
    route(contract.getRoot, async ({ prefersPage }) => {
      const headers = ['Vary', 'Accept'];
      return prefersPage ? { ...page(rootPage(info), rootPolicy), headers } : { status: 200, headers, body: info };
    }),
    route(contract.getOpenApi, async () => ({ status: 200, body: document() })),
    route(contract.getDocs, async () => page(docs(), referencePolicy)),
    route(contract.getProblem, async ({ params: { code } }) => {
      if (!Object.hasOwn(contract.errors, code)) throw new DomainError('not_found');
      return page(problemPage(code as contract.ErrorCode), problemPolicy);
    }),
  ];
}

/** It has the version of the contract, not that of the program, which no response discloses (ASVS 13.4.6). */
const info = {
  name: 'Keyreeve',
  contractVersion: contract.contractVersion,
  docs: contract.getDocs.path,
  openapi: contract.getOpenApi.path,
  jwks: contract.getJwks.path,
  health: contract.ready.path,
} as const;

/** Computes the value at the first call. */
function once(compute: () => string): () => string {
  let value: string | undefined;
  return () => (value ??= compute());
}
