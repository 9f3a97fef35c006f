/** One webhook endpoint: its state and events, a test, another secret, and its end. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { call, type ResponseOf } from '../../../api.ts';
import { formatDateTime, formatNumber } from '../../../format.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { Button } from '../../../parts/button.tsx';
import { Chips } from '../../../parts/chips.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { Page } from '../../../parts/page.tsx';
import { ProblemNotice } from '../../../parts/problem-notice.tsx';
import { SecretDialog } from '../../../parts/secret-dialog.tsx';
import { Section } from '../../../parts/section.tsx';
import { Time } from '../../../parts/time.tsx';
import { useAction, useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { NextAttempt } from '../next-attempt.tsx';
import { ChangeWebhookDialog } from './change-webhook-dialog.tsx';
import { DeliveriesSection } from './deliveries-section.tsx';
import { webhooksPath, WebhookState, type Webhook } from './webhook.tsx';

type DialogName = 'change' | 'rotate' | 'disable' | 'delete';
type TestResult = ResponseOf<'POST /admin/webhooks/:id/test'>;

/** @param id from the URL */
export const WebhookPage = ({ id }: { readonly id: string }) => <WebhookView id={id} key={id} />;

function WebhookView({ id }: { readonly id: string }) {
  const params = { id };
  const dialog = useSignal<DialogName>();
  const result = useSignal<TestResult>();
  const webhook = useResource((signal) => call('GET /admin/webhooks/:id', { params, signal }));
  const test = useAction(async () => {
    result.value = await call('POST /admin/webhooks/:id/test', { params });
  });
  const enable = useAction(async () => {
    await call('POST /admin/webhooks/:id/enable', { params });
    announce(adminText.webhooks.enabled);
    await webhook.reload();
  });
  const current = webhook.value;
  const open = (name: DialogName) => () => void (dialog.value = name);
  return (
    <Page
      title={current?.url ?? adminText.webhooks.one}
      parent={{ href: webhooksPath, label: adminText.general.webhooks }}
      actions={
        current && (
          <>
            <Button action={test}>{adminText.webhooks.test}</Button>
            <Button onClick={open('change')}>{adminText.webhooks.edit}</Button>
            <Button onClick={open('rotate')}>{adminText.webhooks.rotate}</Button>
            {current.disabledAt === null ? (
              <Button onClick={open('disable')}>{text.keys.disable}</Button>
            ) : (
              <Button action={enable}>{text.keys.enable}</Button>
            )}
            <Button kind="danger" onClick={open('delete')}>
              {adminText.webhooks.delete}
            </Button>
          </>
        )
      }
    >
      {[test, enable].map(({ problem }, index) => problem && <ProblemNotice problem={problem} key={index} />)}
      {result.value && <TestNotice result={result.value} />}
      <Loaded of={webhook}>
        {(loaded) => (
          <div class="sections">
            <WebhookFacts webhook={loaded} />
            <DeliveriesSection id={id} />
          </div>
        )}
      </Loaded>
      {dialog.value && current && (
        <WebhookDialog
          of={current}
          name={dialog.value}
          onClose={() => void (dialog.value = undefined)}
          onChanged={() => void webhook.reload()}
        />
      )}
    </Page>
  );
}

const TestNotice = ({ result: { delivered, status, failure } }: { readonly result: TestResult }) => (
  <Notice tone={delivered ? 'success' : 'error'} role="status">
    <p>
      {delivered ? adminText.webhooks.testDelivered(status ?? 0) : adminText.webhooks.testFailed}{' '}
      {failure !== null && <bdi class="code">{failure}</bdi>}
    </p>
  </Notice>
);

const WebhookFacts = ({ webhook }: { readonly webhook: Webhook }) => (
  <Section title={adminText.general.details} badge={<WebhookState of={webhook} />}>
    <Facts
      facts={[
        [
          adminText.webhooks.id,
          <span class="code" key="id">
            {webhook.id}
          </span>,
        ],
        [adminText.webhooks.waiting, formatNumber(webhook.waiting)],
        [
          adminText.general.nextAttempt,
          webhook.nextAttemptAt === null ? undefined : <NextAttempt at={webhook.nextAttemptAt} key="next" />,
        ],
        [
          adminText.webhooks.failingSince,
          webhook.failingSince === null ? undefined : <Time at={webhook.failingSince} as="dateTime" key="failing" />,
        ],
        [adminText.webhooks.lastDelivered, <Time at={webhook.lastDeliveredAt} key="delivered" />],
        [adminText.webhooks.lastFailed, <Time at={webhook.lastFailedAt} key="failed" />],
        [
          adminText.webhooks.lastFailure,
          webhook.lastFailure === null ? undefined : (
            <bdi class="code" key="failure">
              {webhook.lastFailure}
            </bdi>
          ),
        ],
        [text.general.created, <Time at={webhook.createdAt} as="dateTime" key="created" />],
        [adminText.webhooks.events, <Chips values={webhook.events} none={text.general.none} key="events" />],
      ]}
    />
  </Section>
);

interface WebhookDialogProps {
  readonly of: Webhook;
  readonly name: DialogName;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

function WebhookDialog({ of, name, onClose, onChanged }: WebhookDialogProps) {
  const params = { id: of.id };
  const { route } = useLocation();
  const { webhooks } = adminText;
  switch (name) {
    case 'change':
      return <ChangeWebhookDialog of={of} onClose={onClose} onChanged={onChanged} />;
    case 'rotate':
      return <RotateDialog id={of.id} onClose={onClose} />;
    case 'disable':
      return (
        <ActionDialog
          title={webhooks.disableTitle}
          submit={text.keys.disable}
          kind="danger"
          onClose={onClose}
          act={async () => {
            await call('POST /admin/webhooks/:id/disable', { params });
            announce(webhooks.disabled);
            onChanged();
          }}
        >
          <p>{webhooks.disableIntro}</p>
        </ActionDialog>
      );
    case 'delete':
      return (
        <ActionDialog
          title={webhooks.deleteTitle}
          submit={webhooks.delete}
          kind="danger"
          onClose={onClose}
          act={async () => {
            await call('DELETE /admin/webhooks/:id', { params });
            announce(webhooks.deleted);
            route(webhooksPath, true);
          }}
        >
          <p>{webhooks.deleteIntro}</p>
        </ActionDialog>
      );
  }
}

function RotateDialog({ id, onClose }: Pick<Webhook, 'id'> & Pick<WebhookDialogProps, 'onClose'>) {
  const rotated = useSignal<ResponseOf<'POST /admin/webhooks/:id/rotate-secret'>>();
  const { webhooks } = adminText;
  if (rotated.value)
    return (
      <SecretDialog title={webhooks.newSecret} secret={rotated.value.secret} onClose={onClose}>
        <p>{webhooks.previousUntil(formatDateTime(rotated.value.previousValidUntil))}</p>
      </SecretDialog>
    );
  return (
    <ActionDialog
      title={webhooks.rotateTitle}
      submit={webhooks.rotate}
      onClose={() => {
        if (!rotated.peek()) onClose();
      }}
      act={async () => {
        rotated.value = await call('POST /admin/webhooks/:id/rotate-secret', { params: { id } });
      }}
    >
      <p>{webhooks.rotateIntro}</p>
      <p class="hint">{text.keys.secretOnce}</p>
    </ActionDialog>
  );
}
