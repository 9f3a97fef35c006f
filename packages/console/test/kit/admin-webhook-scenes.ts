/** The pages about webhooks and scopes, for administrators, with their dialogs. */
import { ofDataPage } from './page-states.ts';
import { opening, scenesAs, type Scene } from './scene.ts';

const as = 'administrator';
const webhookPath: Scene['path'] = ({ webhookId }) => `/console/admin/webhooks/${webhookId}`;

const scene = scenesAs(as);
const create = opening('main .button.primary');

/** @param place among the buttons beside the heading */
const webhookAction = (name: string, place: number): Scene =>
  scene(`admin-webhook-${name}`, webhookPath, opening('.page-header .button', place));

export const webhookPageScenes: readonly Scene[] = [
  ...ofDataPage({ name: 'admin-webhooks', path: '/console/admin/webhooks', as }),
  ...ofDataPage({ name: 'admin-webhook', path: webhookPath, as }),
  ...ofDataPage({ name: 'admin-scopes', path: '/console/admin/scopes', as }),
];

export const webhookDialogScenes: readonly Scene[] = [
  scene('admin-webhook-create', '/console/admin/webhooks', create),
  webhookAction('change', 1),
  webhookAction('rotate', 2),
  webhookAction('disable', 3),
  webhookAction('delete', 4),
  scene('admin-webhook-delivery', webhookPath, opening('main td .button', 0, 'dialog table')),
  scene('admin-webhook-replay', webhookPath, opening('.section-header .button')),
  scene('admin-scope-declare', '/console/admin/scopes', create),
];
