/** Webhook endpoints as the API and the command line show them. */
import type { Webhook } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import type { Endpoint } from './endpoints.ts';

const orNull = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

/** Picked field by field. */
export const toWebhook = (endpoint: Endpoint): Webhook => ({
  id: endpoint.id,
  url: endpoint.url,
  events: [...endpoint.events],
  createdAt: toInstant(endpoint.createdAt),
  updatedAt: toInstant(endpoint.updatedAt),
  disabledAt: orNull(endpoint.disabledAt),
  waiting: endpoint.waiting,
  lastDeliveredAt: orNull(endpoint.lastDeliveredAt),
  lastFailedAt: orNull(endpoint.lastFailedAt),
  lastFailure: endpoint.lastFailure,
});
