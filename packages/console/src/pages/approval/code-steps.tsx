/** The first step: the person types the code, or compares that of a link. */
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import type { Fields } from '../../fields.ts';
import type { Problem } from '../../problem.ts';
import { useAction } from '../../resource.ts';
import { config } from '../../session.ts';
import { approvalText } from '../../text/approval-text.ts';
import { text } from '../../text/text.ts';
import { lookUp, reject, typed } from './flow.ts';

const useLookup = (codeOf: (fields: Fields) => string) =>
  useAction(async (fields: Fields) => {
    await lookUp(codeOf(fields), config.peek()?.features.scopesCatalogue === true);
  });

const Warning = () => <Notice tone="warning">{approvalText.warning}</Notice>;

const isWrong = (problem: Problem | undefined): boolean => problem?.code === 'approval_not_found';

export function TypeStep() {
  const action = useLookup((fields) => fields.text('code').trim());
  return (
    <Page title={approvalText.title} intro={approvalText.typeIntro}>
      <div class="card">
        <Warning />
        <Form action={action} submit={text.general.continue}>
          <Field
            label={approvalText.code}
            name="code"
            look="code"
            autocapitalize="characters"
            maxLength={64}
            placeholder="WDJB-MJHT"
            autofocus
            defaultValue={typed.peek()}
            onInput={({ currentTarget }) => void (typed.value = currentTarget.value)}
            error={isWrong(action.problem) ? approvalText.problems.approval_not_found : undefined}
          />
        </Form>
      </div>
    </Page>
  );
}

export function CompareStep({ code }: { readonly code: string }) {
  const action = useLookup(() => code);
  const wrong = isWrong(action.problem);
  return (
    <Page title={approvalText.title} intro={approvalText.compareIntro}>
      <div class="card">
        <code class="user-code">{code}</code>
        <Warning />
        {wrong && (
          <Notice tone="error" role="alert">
            {approvalText.problems.approval_not_found}
          </Notice>
        )}
        <Form
          action={wrong ? { ...action, problem: undefined } : action}
          submit={approvalText.isSame}
          others={<Button onClick={reject}>{approvalText.isOther}</Button>}
        />
      </div>
    </Page>
  );
}
