/** The log of a webhook's deliveries, and their replay. */
import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { nameAccounts } from '../../../account-names.ts';
import { call, type RequestOf, type ResponseOf } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { AccountName } from '../../../parts/account-name.tsx';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { ListHeader, StateFilter } from '../../../parts/list-header.tsx';
import { Empty } from '../../../parts/loaded.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import { ProblemNotice } from '../../../parts/problem-notice.tsx';
import { Section } from '../../../parts/section.tsx';
import { Select } from '../../../parts/field.tsx';
import { ServerText } from '../../../parts/server-text.tsx';
import type { Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useAction } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { NextAttempt } from '../next-attempt.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { deliveryTones } from './webhook.tsx';

type Query = NonNullable<RequestOf<'GET /admin/webhooks/:id/deliveries'>['query']>;
type Delivery = ResponseOf<'GET /admin/webhooks/:id/deliveries'>['deliveries'][number];

const states = ['waiting', 'delivered', 'failed'] as const;
const hourMs = 3_600_000;

export function DeliveriesSection({ id }: { readonly id: string }) {
  const isReplaying = useSignal(false);
  const opened = useSignal<string>();
  const list = useList<Delivery>(
    ['state'],
    async (query, signal, first) => {
      const request = { params: { id }, query: { limit: '20', ...query, ...first } as Query, signal };
      const { deliveries, ...page } = await call('GET /admin/webhooks/:id/deliveries', request);
      await nameAccounts(
        deliveries.map(({ accountId }) => accountId),
        signal,
      );
      return { items: deliveries, ...page };
    },
    { state: states },
  );
  const replay = useAction(async (delivery: string) => {
    await call('POST /admin/webhooks/:id/deliveries/:delivery/replay', { params: { id, delivery } });
    announce(adminText.webhooks.replayed(1));
    await list.reload();
  });
  const texts = adminText.webhooks;
  return (
    <Section
      title={texts.deliveries}
      description={texts.deliveriesIntro}
      actions={<Button onClick={() => void (isReplaying.value = true)}>{texts.replayFailed}</Button>}
    >
      {replay.problem && <ProblemNotice problem={replay.problem} />}
      <ListHeader list={list}>
        <StateFilter list={list} all={texts.allDeliveries} options={texts.deliveryStates} />
      </ListHeader>
      <PagedTable
        list={list}
        defaultSize="20"
        label={texts.deliveries}
        keyOf={(delivery) => delivery.id}
        columns={columnsOf(
          (delivery) => void (opened.value = delivery),
          (delivery) => void replay.run(delivery),
        )}
        empty={<Empty title={texts.noDeliveries} />}
      />
      {opened.value !== undefined && (
        <DeliveryDialog params={{ id, delivery: opened.value }} onClose={() => void (opened.value = undefined)} />
      )}
      {isReplaying.value && (
        <ReplayFailedDialog
          id={id}
          onReplayed={() => void list.reload()}
          onClose={() => void (isReplaying.value = false)}
        />
      )}
    </Section>
  );
}

interface ReplayFailedDialogProps {
  readonly id: string;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

function ReplayFailedDialog({ id, onReplayed, onClose }: ReplayFailedDialogProps) {
  const texts = adminText.webhooks;
  return (
    <ActionDialog
      title={texts.replayFailed}
      submit={texts.replay}
      onClose={onClose}
      act={async (fields) => {
        const since = new Date(Date.now() - Number(fields.text('hours')) * hourMs).toISOString();
        const { replayed } = await call('POST /admin/webhooks/:id/replay-failed', { params: { id }, body: { since } });
        announce(texts.replayed(replayed));
        onReplayed();
      }}
    >
      <Select label={texts.replaySince} name="hours" options={Object.entries(texts.replayHours)} defaultValue="24" />
    </ActionDialog>
  );
}

/** A long name continues on the next line after one of its parts. */
const EventName = ({ name }: { readonly name: string }) => (
  <code>
    {name.split(/(?<=[._])/).map((part) => (
      <Fragment key={part}>
        {part}
        <wbr />
      </Fragment>
    ))}
  </code>
);

type Act = (delivery: string) => void;

function columnsOf(onOpen: Act, onReplay: Act): readonly Column<Delivery>[] {
  const texts = adminText.webhooks;
  return [
    { label: text.general.event, cell: ({ event }) => <EventName name={event} /> },
    {
      label: text.general.account,
      priority: 'below',
      cell: ({ accountId }) => accountId !== null && <AccountName id={accountId} />,
    },
    { label: text.general.created, priority: 'below', cell: ({ at }) => <Time at={at} /> },
    {
      label: text.general.state,
      priority: 'below',
      cell: ({ state }) => <Badge tone={deliveryTones[state]}>{texts.deliveryStates[state]}</Badge>,
    },
    {
      label: texts.response,
      priority: 'lowest',
      align: 'end',
      cell: ({ attempts }) => attempts.at(-1)?.status ?? texts.noResponse,
    },
    {
      label: texts.lastFailure,
      priority: 'below',
      cell: ({ attempts }) => <ServerText>{attempts.at(-1)?.error ?? null}</ServerText>,
    },
    { label: adminText.general.attempts, priority: 'lowest', align: 'end', cell: ({ attemptCount }) => attemptCount },
    {
      label: adminText.general.nextAttempt,
      priority: 'lowest',
      cell: ({ nextAttemptAt }) => <NextAttempt at={nextAttemptAt} />,
    },
    {
      label: text.general.actions,
      isLabelHidden: true,
      align: 'end',
      cell: ({ id, event, state }) => (
        <div class="actions end">
          <Button isSmall aria-label={texts.detailsOf(event)} onClick={() => onOpen(id)}>
            {text.general.details}
          </Button>
          {state !== 'waiting' && (
            <Button isSmall aria-label={texts.replayOf(event)} onClick={() => onReplay(id)}>
              {texts.replay}
            </Button>
          )}
        </div>
      ),
    },
  ];
}
