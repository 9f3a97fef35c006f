/** The active sessions of an account. */
import type { Signal } from '@preact/signals';
import { call } from '../../../api.ts';
import { announce } from '../../../parts/announce.tsx';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/section.tsx';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { SessionTable } from '../../security/sessions-section.tsx';

export function AccountSessions({ id, changes }: { readonly id: string; readonly changes: Signal<number> }) {
  const sessions = useResource((signal) => {
    void changes.value;
    return call('GET /admin/accounts/:id/sessions', { params: { id }, signal });
  });
  return (
    <Section title={text.security.sessions}>
      <Loaded of={sessions} rows={1}>
        {(list) =>
          list.sessions.length === 0 ? (
            <Empty title={adminText.accounts.noSessions} />
          ) : (
            <SessionTable
              list={list.sessions}
              reload={sessions.reload}
              onEnd={async (session) => {
                await call('DELETE /admin/accounts/:id/sessions/:sessionId', { params: { id, sessionId: session.id } });
                announce(text.security.endedOne);
              }}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
