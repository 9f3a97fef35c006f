/** HTTP routes of leak reports. */
import { reportLeaks } from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { LeakReports } from './leak-reports.ts';

export const leakRoutes = (reports: LeakReports): readonly Route[] => [
  route(reportLeaks, async ({ clientIp, body }) => {
    await reports.report(clientIp, body.keys);
    return { status: 202, body: { message: 'The report has been processed.' } };
  }),
];
