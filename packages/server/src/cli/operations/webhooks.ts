/** Webhook endpoints. */
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  testWebhook,
  type ChangedWebhook,
  type CreatedWebhook,
  type RotatedWebhookSecret,
  type Webhook,
  type WebhookChangeBody,
  type WebhookTest,
} from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { toWebhook } from '../../modules/webhooks/endpoints.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import { operator, type CommandContext } from '../session.ts';

export interface WebhookOperations {
  create(endpoint: Pick<CreatedWebhook, 'url' | 'events'>): Promise<CreatedWebhook>;
  list(): Promise<readonly Webhook[]>;
  find(id: string): Promise<Webhook>;
  change(id: string, change: WebhookChangeBody): Promise<ChangedWebhook>;
  enable(id: string): Promise<void>;
  disable(id: string): Promise<void>;
  delete(id: string): Promise<void>;
  rotateSecret(id: string): Promise<RotatedWebhookSecret>;
  test(id: string): Promise<WebhookTest>;
}

export const localWebhooks = ({ webhooks: { endpoints } }: CommandContext): WebhookOperations => ({
  async create(wanted) {
    const { secret, ...endpoint } = await endpoints.create(operator, wanted);
    const { id, url, events, createdAt, updatedAt, disabledAt } = toWebhook(endpoint);
    return { id, url, events, createdAt, updatedAt, disabledAt, secret: secret.reveal() };
  },
  list: async () => (await endpoints.list()).map(toWebhook),
  find: async (id) => toWebhook(await endpoints.find(id)),
  async change(id, change) {
    const { endpoint, secret } = await endpoints.change(operator, id, change);
    return { webhook: toWebhook(endpoint), secret: secret?.reveal() ?? null };
  },
  enable: (id) => endpoints.enable(operator, id),
  disable: (id) => endpoints.disable(operator, id),
  delete: (id) => endpoints.delete(operator, id),
  async rotateSecret(id) {
    const { secret, previousValidUntil } = await endpoints.rotateSecret(operator, id);
    return { secret: secret.reveal(), previousValidUntil: toInstant(previousValidUntil) };
  },
  async test(id) {
    const { status, failure } = await endpoints.test(id);
    return { delivered: failure === null, status, failure };
  },
});

export const remoteWebhooks = (service: RemoteService): WebhookOperations => ({
  create: (body) => service.request(createWebhook, { body }),
  list: async () => (await service.request(listWebhooks)).webhooks,
  find: (id) => service.request(getWebhook, { params: { id } }),
  change: (id, body) => service.request(changeWebhook, { params: { id }, body }),
  enable: (id) => service.request(enableWebhook, { params: { id } }),
  disable: (id) => service.request(disableWebhook, { params: { id } }),
  delete: (id) => service.request(deleteWebhook, { params: { id } }),
  rotateSecret: (id) => service.request(rotateWebhookSecret, { params: { id } }),
  test: (id) => service.request(testWebhook, { params: { id } }),
});
