/** Asks for the password again, and for a one-time code if the account has a second factor. */
import { send } from './api.ts';
import type { Fields } from './fields.ts';
import { useAction } from './resource.ts';
import { Button } from './parts/button.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Field } from './parts/field.tsx';
import { Form } from './parts/form.tsx';
import { session, setSession } from './session.ts';
import { text } from './text/text.ts';

export function ConfirmationDialog({ settle }: { readonly settle: (isConfirmed: boolean) => void }) {
  const action = useAction(async (fields: Fields) => {
    const code = fields.optional('code');
    const password = fields.text('password');
    setSession(await send('POST /console/session/confirm', { body: { password, ...(code ? { code } : {}) } }));
    settle(true);
  });
  return (
    <Dialog title={text.general.confirmTitle} onClose={() => settle(false)}>
      <p>{text.general.confirmIntro}</p>
      <Form
        action={action}
        submit={text.general.confirm}
        others={<Button onClick={() => settle(false)}>{text.general.cancel}</Button>}
      >
        <input
          type="text"
          name="username"
          autocomplete="username"
          value={session.value?.account.email}
          readOnly
          hidden
        />
        <Field label={text.general.password} name="password" type="password" autocomplete="current-password" />
        {session.value?.account.secondFactor && (
          <Field label={text.general.oneTimeCode} name="code" autocomplete="one-time-code" />
        )}
      </Form>
    </Dialog>
  );
}
