/** Changes the URL and the events of a webhook endpoint, and shows the secret of a new URL. */
import { useSignal } from '@preact/signals';
import { call } from '../../../api.ts';
import { formatNumber } from '../../../format.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { SecretDialog } from '../../../parts/secret-dialog.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { WebhookFields, webhookIn } from './webhook-fields.tsx';
import type { Webhook } from './webhook.tsx';

interface ChangeWebhookDialogProps {
  readonly of: Webhook;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function ChangeWebhookDialog({ of, onClose, onChanged }: ChangeWebhookDialogProps) {
  const created = useSignal<{ readonly secret: string; readonly waiting: number }>();
  const { webhooks } = adminText;
  if (created.value)
    return (
      <SecretDialog title={webhooks.newSecret} secret={created.value.secret} onClose={onClose}>
        <p>{webhooks.newUrlIntro(formatNumber(created.value.waiting))}</p>
      </SecretDialog>
    );
  return (
    <ActionDialog
      title={webhooks.editTitle}
      submit={text.general.save}
      size="large"
      onClose={() => {
        if (!created.peek()) onClose();
      }}
      act={async (fields) => {
        const params = { id: of.id };
        const { secret, webhook } = await call('PATCH /admin/webhooks/:id', { params, body: webhookIn(fields) });
        if (secret !== null) created.value = { secret, waiting: webhook.waiting };
        announce(webhooks.changed);
        onChanged();
      }}
    >
      <WebhookFields of={of} />
    </ActionDialog>
  );
}
