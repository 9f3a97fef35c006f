/** The routes that publish the contract: OpenAPI, a page for each error code and the page at `/`. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { BasePath } from '../../http/base-path.ts';
import { contractPages, type ContractPageOptions } from './pages.ts';
import { FixedContent } from '../../http/fixed-content.ts';
import { jsonType } from '../../http/response.ts';
import { route, type Route } from '../../http/route.ts';

export interface PublishedPages extends ContractPageOptions {
  /** Whether the console is at this host, as the header Host names it. */
  readonly hasConsole: (host: string | undefined) => boolean;
}

export function contractRoutes({ hasConsole, ...options }: PublishedPages): readonly Route[] {
  const { basePath, hasDocs } = options;
  const pages = contractPages(options);
  const openApi = () => contract.openApiDocument(contract.allRoutes, basePath.root);
  const document = once(() => new FixedContent(jsonType, JSON.stringify(openApi())));
  const info = infoOf(basePath, hasDocs);
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
    route(contract.getProblem, async ({ params: { code }, contentRequest }) => {
      const problem = problems.get(code);
      if (!problem) throw new DomainError('not_found');
      return problem().respond(contentRequest, { policy: pages.policies.problem });
    }),
  ];
}

const pageType = 'text/html; charset=utf-8';

/** It has the version of the contract, not that of the program (ASVS 13.4.6), which no response to strangers names. */
const infoOf = (basePath: BasePath, hasDocs: boolean) => ({
  name: 'Keyreeve' as const,
  contractVersion: contract.contractVersion,
  ...(hasDocs && { docs: basePath.with(contract.docsPath) }),
  openapi: basePath.with(contract.getOpenApi.path),
  jwks: basePath.with(contract.getJwks.path),
  health: basePath.with(contract.ready.path),
});

/** Computes the value at the first call. */
function once<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= compute());
}
