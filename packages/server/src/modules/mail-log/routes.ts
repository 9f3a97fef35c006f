/** The route of the log of mail, for administrators. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { MailLog } from './mail-log.ts';

export const mailLogRoutes = (mailLog: MailLog): readonly Route[] => [
  route(contract.adminListMail, async ({ query }) => ({ status: 200, body: await mailLog.page(query) })),
];
