/** The route that exports an account's own data. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { Streams } from '../../http/stream.ts';
import type { AccountExporter, ExportedLists } from './export.ts';

export const exportRoutes = (exporter: AccountExporter, lists: ExportedLists, streams: Streams): readonly Route[] => [
  route(contract.exportAccount, async ({ principal }) => ({
    status: 200,
    headers: ['Content-Disposition', 'attachment; filename="account.json"'],
    stream: await exporter.open(principal, lists, streams),
  })),
];
