/** Routes of the outbox and of the test mail for administrators. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { MailTest } from './mail-test.ts';
import type { OutboxView } from './outbox-view.ts';

export interface MailParts {
  readonly outboxView: OutboxView;
  readonly mailTest: MailTest;
}

export const mailRoutes = ({ outboxView, mailTest }: MailParts): readonly Route[] => [
  route(contract.adminReadOutbox, async ({ query }) => ({ status: 200, body: await outboxView.page(query) })),
  route(contract.adminTestMail, async ({ principal }) => ({ status: 200, body: await mailTest.send(principal) })),
];
