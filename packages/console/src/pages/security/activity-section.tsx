/** What happened in the account, in sentences, and what to do after an event that the person does not recognise. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../api.ts';
import { useList } from '../../list.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/loaded.tsx';
import { PagedTable } from '../../parts/paged-table.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Section } from '../../parts/section.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction } from '../../resource.ts';
import { session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { PasswordForm } from '../account/password-form.tsx';
import { deviceText } from './device.ts';
import { eventText } from './event-text.ts';
import { endOtherSessions } from './sessions-section.tsx';

type ActivityEvent = ResponseOf<'GET /auth/account/activity'>['activity'][number];

/** @param onSessionsEnded after other sessions have ended */
export function ActivitySection({ onSessionsEnded }: { readonly onSessionsEnded: () => void }) {
  const isSecuring = useSignal(false);
  const list = useList([], async (query, signal) => {
    // Another load after each change of the session, which may have an event.
    void session.value;
    const { activity, nextCursor } = await call('GET /auth/account/activity', {
      query: { ...query, limit: query['limit'] ?? '20' },
      signal,
    });
    // The events have no ids.
    return { items: activity.map((event, index) => ({ ...event, index })), nextCursor };
  });
  const close = (): void => {
    isSecuring.value = false;
    void list.reload();
  };
  return (
    <Section
      title={text.security.activity}
      description={text.security.activityIntro}
      actions={<Button onClick={() => void (isSecuring.value = true)}>{text.security.wasThisYou}</Button>}
    >
      <PagedTable
        list={list}
        defaultSize="20"
        label={text.security.activity}
        keyOf={({ index }) => index}
        columns={columns()}
        empty={
          <Empty title={text.security.noActivity}>
            <p>{text.security.noActivityHint}</p>
          </Empty>
        }
      />
      {isSecuring.value && <SecureDialog onClose={close} onSessionsEnded={onSessionsEnded} />}
    </Section>
  );
}

function hintOf({ details }: ActivityEvent): string | undefined {
  const failures = Number(details['failuresBefore'] ?? 0);
  return failures > 0 ? text.security.failuresBefore(failures) : undefined;
}

const columns = (): readonly Column<ActivityEvent>[] => [
  {
    label: text.general.event,
    cell: (event) => (
      <>
        {eventText(event.action, event.details) ?? event.action}
        {hintOf(event) && <span class="muted"> {hintOf(event)}</span>}
      </>
    ),
  },
  { label: text.security.actor, priority: 'below', cell: ({ actor }) => text.security.actors[actor] },
  {
    label: text.security.device,
    priority: 'below',
    cell: ({ clientIp, userAgent }) =>
      clientIp !== null && (
        <>
          <span title={userAgent ?? ''}>{deviceText(userAgent ?? '')}</span> <span class="code muted">{clientIp}</span>
        </>
      ),
  },
  { label: text.general.when, priority: 'below', cell: ({ at }) => <Time at={at} /> },
];

interface SecureDialogProps {
  readonly onClose: () => void;
  readonly onSessionsEnded: () => void;
}

function SecureDialog({ onClose, onSessionsEnded }: SecureDialogProps) {
  const end = useAction(async () => {
    await endOtherSessions();
    onSessionsEnded();
    onClose();
  });
  return (
    <Dialog title={text.security.notYouTitle} onClose={onClose}>
      <PasswordForm onClose={onClose} onChanged={onSessionsEnded}>
        <p>{text.security.notYouIntro}</p>
        <div class="stack tight">
          <p class="hint">{text.security.notYouSessions}</p>
          <div class="actions">
            <Button isSmall action={end}>
              {text.security.endOthers}
            </Button>
          </div>
          {end.problem && <ProblemNotice problem={end.problem} />}
        </div>
      </PasswordForm>
    </Dialog>
  );
}
