/** What the pages about webhook endpoints share. */
import type { ResponseOf } from '../../../api.ts';
import { Badge } from '../../../parts/badge.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { root } from '../../../root.ts';

export type Webhook = ResponseOf<'GET /admin/webhooks/:id'>;

export const webhooksPath = `${root}/admin/webhooks`;
export const webhookPath = (id: string): string => `${webhooksPath}/${id}`;

/** Of the states of deliveries. */
export const deliveryTones = { waiting: 'warning', delivered: 'good', failed: 'bad' } as const;

export function WebhookState({ of }: { readonly of: Webhook }) {
  const { states } = adminText.webhooks;
  if (of.disabledAt !== null) return <Badge>{states.disabled}</Badge>;
  return of.failingSince === null ? (
    <Badge tone="good">{states.enabled}</Badge>
  ) : (
    <Badge tone="bad">{states.failing}</Badge>
  );
}
