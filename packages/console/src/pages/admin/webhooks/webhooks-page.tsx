/** The webhook endpoints, and the creation of one. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { call } from '../../../api.ts';
import { formatNumber } from '../../../format.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { SecretDialog } from '../../../parts/secret-dialog.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { CreateWebhookDialog } from './create-webhook-dialog.tsx';
import { webhookPath, WebhookState, type Webhook } from './webhook.tsx';

const columns = (): readonly Column<Webhook>[] => [
  {
    label: adminText.webhooks.url,
    cell: ({ id, url }) => (
      <a class="row-link account-name" href={webhookPath(id)}>
        <bdi>{url}</bdi>
      </a>
    ),
  },
  {
    label: adminText.webhooks.events,
    priority: 'low',
    cell: ({ events }) => adminText.webhooks.eventCount(events.length),
  },
  { label: text.general.state, priority: 'below', cell: (webhook) => <WebhookState of={webhook} /> },
  {
    label: adminText.webhooks.waiting,
    priority: 'medium',
    align: 'end',
    cell: ({ waiting }) => formatNumber(waiting),
  },
  {
    label: adminText.webhooks.lastDelivered,
    priority: 'medium',
    cell: ({ lastDeliveredAt }) => <Time at={lastDeliveredAt} />,
  },
];

export function WebhooksPage() {
  const { route } = useLocation();
  const isCreating = useSignal(false);
  const created = useSignal<{ readonly id: string; readonly secret: string }>();
  const list = useResource((signal) => call('GET /admin/webhooks', { signal }));
  const create = (
    <Button kind="primary" icon="plus" onClick={() => void (isCreating.value = true)}>
      {adminText.webhooks.create}
    </Button>
  );
  const isEmpty = list.value?.webhooks.length === 0;
  return (
    <Page title={adminText.general.webhooks} intro={adminText.webhooks.intro} actions={!isEmpty && create}>
      <div class="list">
        <Loaded of={list}>
          {({ webhooks }) =>
            webhooks.length === 0 ? (
              <Empty title={adminText.webhooks.none}>
                <p>{adminText.webhooks.noneIntro}</p>
                {create}
              </Empty>
            ) : (
              <Table label={adminText.general.webhooks} columns={columns()} rows={webhooks} keyOf={({ id }) => id} />
            )
          }
        </Loaded>
      </div>
      {isCreating.value && (
        <CreateWebhookDialog
          onClose={() => void (isCreating.value = false)}
          onCreated={(webhook) => void (created.value = webhook)}
        />
      )}
      {created.value && (
        <SecretDialog
          title={adminText.webhooks.newSecret}
          secret={created.value.secret}
          onClose={() => {
            const { id } = created.value!;
            created.value = undefined;
            route(webhookPath(id));
          }}
        >
          <p>{adminText.webhooks.secretIntro}</p>
        </SecretDialog>
      )}
    </Page>
  );
}
