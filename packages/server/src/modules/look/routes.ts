/** The operator's mark. It is not part of the HTTP contract: only pages of the service show it. */
import type { RouteContract } from '@keyreeve/contract';
import { FixedContent } from '../../http/fixed-content.ts';
import { route, type Route } from '../../http/route.ts';
import { markPath } from './look.ts';
import type { Mark } from './mark.ts';

const image = {
  id: 'mark',
  method: 'GET',
  path: markPath,
  tag: 'Account',
  summary: 'Get the operator’s mark',
  auth: 'none',
  success: { status: 200, description: 'An image' },
  errors: [],
} as const satisfies RouteContract;

/** For a person who opens the image itself. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export function markRoutes(mark: Mark | undefined): readonly Route[] {
  if (!mark) return [];
  const content = new FixedContent(mark.contentType, mark.bytes);
  return [route(image, ({ contentRequest }) => content.respond(contentRequest, { policy }))];
}
