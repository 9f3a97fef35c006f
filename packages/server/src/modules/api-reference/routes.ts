/** The routes that publish the contract: OpenAPI, the reference page, a page for each error code and the page at `/`. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { problemPage, problemPolicy, rootPage, rootPolicy } from './pages.ts';
import { referencePage, referencePolicy } from './reference-page.ts';
import { route, type Route } from '../../http/route.ts';

/**
 * @param publicUrl where clients reach this installation
 * @param hasConsole whether the console is at this host, as the header Host names it
 */
export function contractRoutes(publicUrl: string, hasConsole: (host: string | undefined) => boolean): readonly Route[] {
  const document = once(() => JSON.stringify(contract.openApiDocument(contract.allRoutes)));
  const docs = once(() => referencePage(contract.allRoutes, publicUrl));
  const page = (body: string, policy: string) => ({
    status: 200,
    contentType: 'text/html; charset=utf-8',
    policy,
    body,
  });
  return [
    route(contract.getRoot, async ({ prefersPage, host }) => {
      const headers = ['Vary', 'Accept'];
      if (!prefersPage) return { status: 200, headers, body: info };
      if (hasConsole(host)) return { status: 303, headers: [...headers, 'Location', '/console'] };
      return { ...page(rootPage(info), rootPolicy), headers };
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
