/** Pages of administrators that few visits need. They are one file of the output, which loads when one of them is opened. */
export { IssuersPage } from './issuers/issuers-page.tsx';
export { ProgramsPage } from './programs/programs-page.tsx';
export { WebhookPage } from './webhooks/webhook-page.tsx';
export { WebhooksPage } from './webhooks/webhooks-page.tsx';
export * from '../shared-parts.ts';
