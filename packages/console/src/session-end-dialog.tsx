/** Warns two minutes before the session ends (WCAG 2.2.1), and continues it. */
import { send } from './api.ts';
import { secondsUntil } from './clock.ts';
import { OwnerForm } from './confirmation-dialog.tsx';
import { formatCountdown } from './format.ts';
import { Button } from './parts/button.tsx';
import { Dialog } from './parts/dialog.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { useAction } from './resource.ts';
import { ending, session, setSession, signOut, staySignedIn } from './session.ts';
import { text } from './text/text.ts';

export function SessionEndDialog() {
  const stay = useAction(staySignedIn);
  const leave = useAction(signOut);
  if (!ending.value) return null;
  const { at, isFinal } = ending.value;
  const later = () => void (ending.value = undefined);
  const signOutButton = <Button action={leave}>{text.general.signOut}</Button>;
  return (
    <Dialog title={text.general.sessionEndTitle} onClose={isFinal ? later : () => void stay.run()}>
      <p>
        <span aria-live="off">{text.general.sessionEndsSoon(formatCountdown(secondsUntil(at)))}</span>{' '}
        {isFinal ? text.general.sessionEndFinal : text.general.sessionEndUnused}
      </p>
      {isFinal ? (
        <OwnerForm
          submit={text.general.staySignedIn}
          others={signOutButton}
          prove={async (proof) => {
            const email = session.value?.account.email ?? '';
            setSession(await send('POST /console/session', { body: { email, ...proof } }));
          }}
        />
      ) : (
        <>
          {stay.problem && <ProblemNotice problem={stay.problem} />}
          <div class="actions end">
            {signOutButton}
            <Button kind="primary" autofocus action={stay}>
              {text.general.staySignedIn}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
