/** The limits that all keys of an account share. */
import { useSignal } from '@preact/signals';
import { call } from '../../../api.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { Button } from '../../../parts/button.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Section } from '../../../parts/section.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { LimitFields, limitsOf } from '../../keys/limit-fields.tsx';
import { limitFacts } from '../../keys/key-facts.tsx';
import type { AccountDetail } from './account.tsx';

interface LimitsSectionProps {
  readonly account: AccountDetail;
  readonly onChanged: (sentence: string) => void;
}

export function LimitsSection({ account, onChanged }: LimitsSectionProps) {
  const isChanging = useSignal(false);
  const close = (): void => void (isChanging.value = false);
  return (
    <Section
      title={adminText.accounts.limits}
      description={adminText.accounts.limitsIntro}
      actions={<Button onClick={() => void (isChanging.value = true)}>{adminText.accounts.changeLimits}</Button>}
    >
      <Facts facts={limitFacts(account)} />
      {isChanging.value && (
        <ActionDialog
          title={adminText.accounts.changeLimits}
          onClose={close}
          act={async (fields) => {
            const { rate, quota } = limitsOf(fields);
            const body = { ...(rate && { rate }), ...(quota && { quota }) };
            await call('PUT /admin/accounts/:id/limits', { params: { id: account.id }, body });
            onChanged(adminText.accounts.limitsSaved);
          }}
        >
          <LimitFields limits={account.limits} pointer="" />
        </ActionDialog>
      )}
    </Section>
  );
}
