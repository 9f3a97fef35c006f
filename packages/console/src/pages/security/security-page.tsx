/** Second factor, recovery codes, passkeys, sessions and activity of the account. */
import { Page } from '../../parts/page.tsx';
import { config, session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { ActivitySection } from './activity-section.tsx';
import { PasskeysSection } from './passkeys-section.tsx';
import { SecondFactorSection } from './second-factor-section.tsx';
import { SessionsSection, useSessions } from './sessions-section.tsx';

export function SecurityPage() {
  const isComplete = !session.value?.account.mustEnrol;
  const sessions = useSessions();
  const reload = (): void => void sessions.reload();
  return (
    <Page title={text.general.security}>
      <SecondFactorSection />
      <Passkeys onChanged={reload} />
      <SessionsSection sessions={sessions} />
      {/* Until the person has set up a required second factor, the server rejects its requests. */}
      {isComplete && <ActivitySection onSessionsEnded={reload} />}
    </Page>
  );
}

const Passkeys = ({ onChanged }: { readonly onChanged: () => void }) =>
  config.value?.features.passkeys ? <PasskeysSection onChanged={onChanged} /> : null;
