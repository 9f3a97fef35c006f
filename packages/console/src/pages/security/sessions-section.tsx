/** The active sessions of the account, which the person can end. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../api.ts';
import { plural } from '../../format.ts';
import { announce } from '../../parts/announce.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Section } from '../../parts/section.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction, useResource, type Resource } from '../../resource.ts';
import { session as current, signOut } from '../../session.ts';
import { text } from '../../text/text.ts';
import { deviceText } from './device.ts';

type List = ResponseOf<'GET /auth/sessions'>;
type Session = List['sessions'][number];

export const useSessions = (): Resource<List> =>
  useResource((signal) => {
    // Another load after each change of the session: a new second factor ends the others.
    void current.value;
    return call('GET /auth/sessions', { signal });
  });

/** Ends the other sessions and announces their number. */
export async function endOtherSessions(): Promise<void> {
  const { ended } = await call('DELETE /auth/sessions');
  announce(plural(ended, { one: text.security.endedOne, other: text.security.endedMany(ended) }));
}

export function SessionsSection({ sessions }: { readonly sessions: Resource<List> }) {
  const endOthers = useAction(async () => {
    await endOtherSessions();
    await sessions.reload();
  });
  const hasOthers = sessions.value?.sessions.some((session) => !session.current);
  return (
    <Section
      title={text.security.sessions}
      description={text.security.sessionsIntro}
      actions={hasOthers && <Button action={endOthers}>{text.security.endOthers}</Button>}
    >
      {endOthers.problem && <ProblemNotice problem={endOthers.problem} />}
      <Loaded of={sessions}>
        {(list) => <SessionTable list={list.sessions} onEnd={endOwn} reload={sessions.reload} />}
      </Loaded>
    </Section>
  );
}

async function endOwn(session: Session): Promise<void> {
  if (session.current) return signOut();
  await call('DELETE /auth/sessions/:id', { params: { id: session.id } });
  announce(text.security.endedOne);
}

interface SessionTableProps {
  readonly list: readonly Session[];
  readonly onEnd: (session: Session) => Promise<void>;
  readonly reload: () => Promise<void>;
}

export function SessionTable({ list, onEnd, reload }: SessionTableProps) {
  const ending = useSignal('');
  const end = useAction(async (session: Session) => {
    ending.value = session.id;
    await onEnd(session);
    // After a sign-out there is nothing to load.
    if (current.peek()) await reload();
  });
  const columns = columnsOf(end.isRunning ? ending.value : '', (session) => void end.run(session));
  return (
    <div class="stack">
      {end.problem && <ProblemNotice problem={end.problem} />}
      <Table label={text.security.sessions} columns={columns} rows={list} keyOf={(session) => session.id} />
    </div>
  );
}

/** @param busyId of the session that a request ends now */
const columnsOf = (busyId: string, onEnd: (session: Session) => void): readonly Column<Session>[] => [
  {
    label: text.security.device,
    cell: (session) => (
      <span class="device">
        {/* The whole user agent is in the tooltip. */}
        <span title={session.userAgent}>{deviceText(session.userAgent)}</span>{' '}
        {session.current && <Badge tone="good">{text.security.current}</Badge>}
      </span>
    ),
  },
  { label: text.security.clientIp, priority: 'below', cell: (session) => <span class="code">{session.clientIp}</span> },
  { label: text.security.signedIn, priority: 'low', cell: (session) => <Time at={session.createdAt} /> },
  { label: text.general.lastUsed, priority: 'below', cell: (session) => <Time at={session.lastUsedAt} /> },
  { label: text.security.expires, priority: 'medium', cell: (session) => <Time at={session.expiresAt} /> },
  {
    label: text.general.actions,
    isLabelHidden: true,
    align: 'end',
    cell: (session) => (
      <Button kind="quiet" isBusy={busyId === session.id} onClick={() => onEnd(session)}>
        {session.current ? text.general.signOut : text.security.end}
        <span class="visually-hidden"> {deviceText(session.userAgent)}</span>
      </Button>
    ),
  },
];
