/** The button that continues at the OpenID provider of administrators. */
import { send } from './api.ts';
import { keepCode, keptCode } from './linked-code.ts';
import { Button } from './parts/button.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { useAction } from './resource.ts';
import { basePath } from './root.ts';
import { config } from './session.ts';
import { text } from './text/text.ts';

/** The page to open afterwards, as a path of the service. */
const returnTo = (): string =>
  location.pathname.slice(basePath.length).replace(/\/sign-in$/, keptCode() ? '/device' : '');

/** @param isConfirmation whether the provider must ask for the credentials again */
export function SingleSignOnButton({ isConfirmation = false }: { readonly isConfirmation?: boolean }) {
  const start = useAction(async () => {
    keepCode();
    const body = { returnTo: returnTo(), isConfirmation };
    location.assign((await send('POST /console/sso/start', { body })).location);
  });
  return (
    <>
      <Button action={start}>{text.signIn.withProvider(config.value?.features.singleSignOn ?? '')}</Button>
      {start.problem && <ProblemNotice problem={start.problem} />}
    </>
  );
}
