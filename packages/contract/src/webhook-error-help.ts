/** Cause and fix of the errors of the log of webhook deliveries. Part of the texts in error-help.ts. */
import type { ErrorHelp } from './error-definition.ts';
import type { webhookErrors } from './webhook-errors.ts';

export const webhookErrorHelp: Readonly<Record<keyof typeof webhookErrors, ErrorHelp>> = {
  webhook_delivery_not_found: {
    cause: 'The delivery belongs to another endpoint, is too old, or the id is wrong.',
    fix: 'Copy the complete id from `GET /admin/webhooks/{id}/deliveries`.',
  },
  webhook_disabled: {
    cause: 'An administrator, an operator or a response with the status 410 disabled the endpoint.',
    fix: 'Enable it with `POST /admin/webhooks/{id}/enable`, then replay the delivery.',
  },
  webhook_event_missing: {
    cause:
      'The content of a message is not stored, but made from its audit event. A restore of a backup removed the event, or the delivery was in progress during an upgrade from a version that did not record the event.',
    fix: 'Read the current state from the API instead.',
  },
};
