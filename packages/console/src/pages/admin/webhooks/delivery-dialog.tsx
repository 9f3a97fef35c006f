/** One delivery of a webhook: the payload, and the attempts with the status of each response. Never the content of a response. */
import { call, type ResponseOf } from '../../../api.ts';
import { formatDateTime, formatNumber } from '../../../format.ts';
import { Badge } from '../../../parts/badge.tsx';
import { CopiedCode } from '../../../parts/code-block.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { ServerText } from '../../../parts/server-text.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { NextAttempt } from '../next-attempt.tsx';
import { deliveryTones } from './webhook.tsx';

type Details = ResponseOf<'GET /admin/webhooks/:id/deliveries/:delivery'>;
type Attempt = Details['delivery']['attempts'][number];

interface DeliveryDialogProps {
  readonly params: { readonly id: string; readonly delivery: string };
  readonly onClose: () => void;
}

export function DeliveryDialog({ params, onClose }: DeliveryDialogProps) {
  const details = useResource((signal) => call('GET /admin/webhooks/:id/deliveries/:delivery', { params, signal }));
  return (
    <Dialog title={adminText.webhooks.delivery} size="large" onClose={onClose}>
      <Loaded of={details}>{(loaded) => <DeliveryView {...loaded} />}</Loaded>
    </Dialog>
  );
}

function DeliveryView({ delivery, payload }: Details) {
  const { id, event, at, state, nextAttemptAt, attempts, attemptCount } = delivery;
  const { webhooks, general } = adminText;
  const attemptsLabel =
    attemptCount > attempts.length
      ? webhooks.lastAttempts(formatNumber(attempts.length), formatNumber(attemptCount))
      : general.attempts;
  return (
    <div class="stack">
      <Facts
        facts={[
          [text.general.event, <code key="event">{event}</code>],
          [
            webhooks.id,
            <span class="code wrap" key="id">
              {id}
            </span>,
          ],
          [text.general.created, <Time at={at} as="dateTime" key="created" />],
          [
            text.general.state,
            <Badge tone={deliveryTones[state]} key="state">
              {webhooks.deliveryStates[state]}
            </Badge>,
          ],
          [general.nextAttempt, nextAttemptAt === null ? undefined : <NextAttempt at={nextAttemptAt} key="next" />],
        ]}
      />
      <h3>{webhooks.payload}</h3>
      {payload === null ? (
        <p class="muted">{webhooks.payloadMissing}</p>
      ) : (
        <CopiedCode label={webhooks.payload} code={JSON.stringify(JSON.parse(payload), null, 2)} />
      )}
      <h3>{attemptsLabel}</h3>
      <Table
        label={attemptsLabel}
        columns={attemptColumns()}
        rows={attempts.toReversed().map((attempt, index) => ({ ...attempt, index }))}
        keyOf={({ index }) => index}
      />
    </div>
  );
}

function attemptColumns(): readonly Column<Attempt & { readonly index: number }>[] {
  const { webhooks, general } = adminText;
  return [
    { label: text.general.when, cell: ({ at }) => <time dateTime={at}>{formatDateTime(at)}</time> },
    { label: webhooks.response, priority: 'below', cell: ({ status }) => status ?? webhooks.noResponse },
    { label: webhooks.duration, priority: 'medium', align: 'end', cell: ({ ms }) => webhooks.milliseconds(ms) },
    { label: general.reason, priority: 'below', cell: ({ error }) => <ServerText>{error}</ServerText> },
  ];
}
