/** Creates a webhook endpoint. */
import { call } from '../../../api.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { WebhookFields, webhookIn } from './webhook-fields.tsx';

interface CreateWebhookDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (webhook: { readonly id: string; readonly secret: string }) => void;
}

export const CreateWebhookDialog = ({ onClose, onCreated }: CreateWebhookDialogProps) => (
  <ActionDialog
    title={adminText.webhooks.create}
    size="large"
    onClose={onClose}
    act={async (fields) => {
      const { id, secret } = await call('POST /admin/webhooks', { body: webhookIn(fields) });
      onCreated({ id, secret });
    }}
  >
    <WebhookFields />
  </ActionDialog>
);
