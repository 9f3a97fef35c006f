/** The entitled scopes that the keys of an account may have. */
import { useSignal } from '@preact/signals';
import { call } from '../../../api.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { Button } from '../../../parts/button.tsx';
import { Chips } from '../../../parts/chips.tsx';
import { Choice, Choices } from '../../../parts/choice.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/section.tsx';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import type { AccountDetail } from './account.tsx';

interface EntitlementsSectionProps {
  readonly account: AccountDetail;
  readonly onChanged: (sentence: string) => void;
}

export function EntitlementsSection({ account, onChanged }: EntitlementsSectionProps) {
  const isChanging = useSignal(false);
  const { accounts } = adminText;
  return (
    <Section
      title={accounts.entitlements}
      description={accounts.entitlementsIntro}
      actions={<Button onClick={() => void (isChanging.value = true)}>{accounts.changeEntitlements}</Button>}
    >
      <Chips values={account.entitlements} none={text.general.none} />
      {isChanging.value && (
        <EntitlementsDialog account={account} onChanged={onChanged} onClose={() => void (isChanging.value = false)} />
      )}
    </Section>
  );
}

/** A field that exists once the scopes are shown: without them, the form must not replace the entitlements. */
const loadedName = 'loaded';

function EntitlementsDialog({
  account,
  onChanged,
  onClose,
}: EntitlementsSectionProps & { readonly onClose: () => void }) {
  const { accounts } = adminText;
  const catalogue = useResource((signal) => call('GET /admin/scopes', { signal }));
  return (
    <ActionDialog
      title={accounts.changeEntitlements}
      onClose={onClose}
      act={async (fields) => {
        if (!fields.isChecked(loadedName)) return;
        const entitlements = fields.all('entitlements');
        await call('PUT /admin/accounts/:id/entitlements', { params: { id: account.id }, body: { entitlements } });
        onChanged(accounts.entitlementsSaved);
      }}
    >
      <Loaded of={catalogue}>
        {({ scopes }) => {
          const entitled = scopes.filter((scope) => scope.entitled && scope.deletedAt === null);
          const others = account.entitlements.filter((name) => !entitled.some((scope) => scope.name === name));
          const all = [...entitled, ...others.map((name) => ({ name, description: accounts.undeclared }))];
          return all.length === 0 ? (
            <p>{accounts.noEntitledScopes}</p>
          ) : (
            <Choices legend={accounts.entitlements} pointer="/entitlements">
              <input type="hidden" name={loadedName} />
              <div class="choices scroll-choices">
                {all.map(({ name, description }) => (
                  <Choice
                    name="entitlements"
                    value={name}
                    label={<code>{name}</code>}
                    hint={description}
                    defaultChecked={account.entitlements.includes(name)}
                    key={name}
                  />
                ))}
              </div>
            </Choices>
          );
        }}
      </Loaded>
    </ActionDialog>
  );
}
