/** The route of the overview, for administrators. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { Overview } from './overview.ts';

export const overviewRoutes = (overview: Overview): readonly Route[] => [
  route(contract.adminGetOverview, async () => ({ status: 200, body: await overview.read() })),
];
