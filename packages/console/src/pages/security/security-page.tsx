/** Second factor, recovery codes, sessions and activity of the account. */
import { Page } from '../../parts/page.tsx';
import { session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { ActivitySection } from './activity-section.tsx';
import { SecondFactorSection } from './second-factor-section.tsx';
import { SessionsSection, useSessions } from './sessions-section.tsx';

export function SecurityPage() {
  return (
    <Page title={text.security.title}>
      <SecondFactorSection />
      {/* Until the person has set up a required second factor, the server rejects the requests of the other sections. */}
      {!session.value?.account.mustEnrol && <Sections />}
    </Page>
  );
}

function Sections() {
  const sessions = useSessions();
  return (
    <>
      <SessionsSection sessions={sessions} />
      <ActivitySection onSessionsEnded={() => void sessions.reload()} />
    </>
  );
}
