/** Errors of webhooks. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { checkId } from './texts.ts';
import { limits } from '../limits.ts';

export const webhookErrors = {
  webhook_url_refused: {
    status: 400,
    title: 'The URL of the endpoint is not allowed',
    meaning:
      'A webhook URL uses https on port 443 and a public host, without a user, a password or a fragment. An operator can allow internal hosts with KEYREEVE_WEBHOOK_TARGETS.',
    cause: 'The URL does not use https on port 443, or its host has an internal IP address.',
    fix: 'Use a public https URL. For an internal receiver the operator sets `KEYREEVE_WEBHOOK_TARGETS`.',
  },
  webhook_not_found: {
    status: 404,
    title: 'No such webhook endpoint',
    meaning: 'No webhook endpoint has this id.',
    cause: 'No webhook endpoint has this id; it may have been deleted.',
    fix: checkId,
  },
  webhook_limit_reached: {
    status: 409,
    title: 'The maximum number of webhook endpoints exists',
    meaning: `There are at most ${limits.webhookEndpointsMax}. Delete one that is no longer used.`,
    cause: 'The installation has the maximum number of webhook endpoints.',
    fix: 'Delete one that is no longer used.',
  },
  webhook_delivery_not_found: {
    status: 404,
    title: 'No such delivery',
    meaning: `The log of this webhook endpoint has no delivery with this id. It covers ${limits.webhookDeliveryDays} days.`,
    cause: 'The delivery belongs to another endpoint, is too old, or the id is wrong.',
    fix: 'Copy the complete id from `GET /admin/webhooks/{id}/deliveries`.',
  },
  webhook_disabled: {
    status: 409,
    title: 'The webhook endpoint is disabled',
    meaning: 'Deliveries to a disabled endpoint are discarded. Enable it first.',
    cause: 'An administrator, an operator or a response with the status 410 disabled the endpoint.',
    fix: 'Enable it with `POST /admin/webhooks/{id}/enable`, then replay the delivery.',
  },
  webhook_event_missing: {
    status: 409,
    title: 'The event of the delivery is not available',
    meaning: 'The audit log no longer has the event.',
    cause:
      'The content of a message is not stored, but made from its audit event. A restore of a backup removed the event, or the delivery was in progress during an upgrade from a version that did not record the event.',
    fix: 'Read the current state from the API instead.',
  },
} as const satisfies Record<string, ErrorDefinition>;
