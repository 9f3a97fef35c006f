/** Errors of the log of webhook deliveries. Part of the registry in errors.ts. */
import type { ErrorDefinition } from './error-definition.ts';
import { limits } from './limits.ts';

export const webhookErrors = {
  webhook_delivery_not_found: {
    status: 404,
    title: 'No such delivery',
    meaning: `The log of this webhook endpoint has no delivery with this id. It covers ${limits.webhookDeliveryDays} days.`,
  },
  webhook_disabled: {
    status: 409,
    title: 'The webhook endpoint is disabled',
    meaning: 'Deliveries to a disabled endpoint are discarded. Enable it first.',
  },
  webhook_event_missing: {
    status: 409,
    title: 'The event of the delivery is not available',
    meaning: 'The audit log no longer has the event.',
  },
} as const satisfies Record<string, ErrorDefinition>;
