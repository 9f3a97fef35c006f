/** The routes that publish the contract: OpenAPI, the reference page, a page for each error code and the page at `/`. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { BasePath } from '../../http/base-path.ts';
import type { Look } from '../look/look.ts';
import { contractPages } from './pages.ts';
import { referencePage, referencePolicy } from './reference-page.ts';
import { FixedContent } from '../../http/fixed-content.ts';
import { jsonType } from '../../http/response.ts';
import { route, type Route } from '../../http/route.ts';

export interface ContractRouteOptions {
  /** Where clients reach this installation. */
  readonly publicUrl: string;
  readonly basePath: BasePath;
  readonly look: Look;
  /** Whether the console is at this host, as the header Host names it. */
  readonly hasConsole: (host: string | undefined) => boolean;
}

export function contractRoutes({ publicUrl, basePath, look, hasConsole }: ContractRouteOptions): readonly Route[] {
  const pages = contractPages(look, basePath);
  const openApi = () => contract.openApiDocument(contract.allRoutes, basePath.root);
  const document = once(() => new FixedContent(jsonType, JSON.stringify(openApi())));
  const info = infoOf(basePath);
  const docs = once(() => new FixedContent(pageType, referencePage(contract.allRoutes, publicUrl)));
  const root = once(() => new FixedContent(pageType, pages.root(info)));
  const service = once(() => new FixedContent(jsonType, JSON.stringify(info)));
  const problems = new Map(
    Object.keys(contract.errors).map((code) => [
      code,
      once(() => new FixedContent(pageType, pages.problem(code as contract.ErrorCode))),
    ]),
  );
  return [
    route(contract.getRoot, async ({ prefersPage, host, contentRequest }) => {
      const headers = ['Vary', 'Accept'];
      if (!prefersPage) return service().respond(contentRequest, { headers });
      if (hasConsole(host)) return { status: 303, headers: [...headers, 'Location', '/console'] };
      return root().respond(contentRequest, { headers, policy: pages.policies.root });
    }),
    route(contract.getOpenApi, ({ contentRequest }) => document().respond(contentRequest)),
    route(contract.getDocs, ({ contentRequest }) => docs().respond(contentRequest, { policy: referencePolicy })),
    route(contract.getProblem, async ({ params: { code }, contentRequest }) => {
      const problem = problems.get(code);
      if (!problem) throw new DomainError('not_found');
      return problem().respond(contentRequest, { policy: pages.policies.problem });
    }),
  ];
}

const pageType = 'text/html; charset=utf-8';

/** It has the version of the contract, not that of the program, which no response discloses (ASVS 13.4.6). */
const infoOf = (basePath: BasePath) => ({
  name: 'Keyreeve' as const,
  contractVersion: contract.contractVersion,
  docs: basePath.with(contract.getDocs.path),
  openapi: basePath.with(contract.getOpenApi.path),
  jwks: basePath.with(contract.getJwks.path),
  health: basePath.with(contract.ready.path),
});

/** Computes the value at the first call. */
function once<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= compute());
}
