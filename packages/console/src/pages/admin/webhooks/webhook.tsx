/** What the pages about webhook endpoints share. */
import type { ResponseOf } from '../../../api.ts';
import { Badge } from '../../../parts/badge.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { root } from '../../../root.ts';

export type Webhook = ResponseOf<'GET /admin/webhooks/:id'>;

export const webhooksPath = `${root}/admin/webhooks`;
export const webhookPath = (id: string): string => `${webhooksPath}/${id}`;

const hasFailedLast = ({ lastDeliveredAt, lastFailedAt }: Webhook): boolean =>
  lastFailedAt !== null && (lastDeliveredAt === null || lastFailedAt > lastDeliveredAt);

export function WebhookState({ of }: { readonly of: Webhook }) {
  const { states } = adminText.webhooks;
  if (of.disabledAt !== null) return <Badge>{states.disabled}</Badge>;
  return hasFailedLast(of) ? <Badge tone="bad">{states.failing}</Badge> : <Badge tone="good">{states.enabled}</Badge>;
}
