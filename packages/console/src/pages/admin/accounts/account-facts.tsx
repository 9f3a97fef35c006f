/** What is stored about an account. */
import { AccountName } from '../../../parts/account-name.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Section } from '../../../parts/section.tsx';
import { Time } from '../../../parts/time.tsx';
import { formatDateTime, formatList } from '../../../format.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { AccountState, type AccountDetail } from './account.tsx';

function factorsOf({ authenticator, passkeys, requiresSecondFactor }: AccountDetail): string {
  const { accounts } = adminText;
  const factors = [authenticator && accounts.authenticator, passkeys > 0 && accounts.passkeys(passkeys)].filter(
    (name) => name !== false,
  );
  const names = factors.length > 0 ? formatList(factors) : accounts.noFactor;
  return requiresSecondFactor ? accounts.requiredFactor(names) : names;
}

export function AccountFacts({ account }: { readonly account: AccountDetail }) {
  const { accounts } = adminText;
  const isPerson = account.kind === 'person';
  return (
    <Section title={adminText.general.details} badge={<AccountState of={account} />}>
      <Facts
        facts={[
          [
            text.general.accountId,
            <span class="input-with-button" key="id">
              <span class="code">{account.id}</span>
              <CopyButton label={text.general.accountId} value={account.id} />
            </span>,
          ],
          [adminText.general.kind, accounts.kinds[account.kind]],
          [text.general.email, isPerson ? account.email : undefined],
          [text.general.name, isPerson ? undefined : account.name],
          [
            text.serviceAccounts.externalId,
            account.externalId === null ? undefined : <code key="external">{account.externalId}</code>,
          ],
          [
            text.serviceAccounts.createdBy,
            isPerson ? undefined : account.creatorId === null ? (
              text.general.deletedAccount
            ) : (
              <AccountName id={account.creatorId} key="creator" />
            ),
          ],
          [text.account.role, isPerson ? accounts.roles[account.role] : undefined],
          [
            text.general.password,
            isPerson ? (account.hasPassword ? accounts.passwordSet : accounts.passwordMissing) : undefined,
          ],
          [text.security.secondFactor, isPerson ? factorsOf(account) : undefined],
          [text.general.created, <Time at={account.createdAt} as="dateTime" key="created" />],
          [text.general.changed, <Time at={account.updatedAt} as="dateTime" key="updated" />],
          [
            accounts.emailChanges,
            account.emailChanges.length === 0 ? undefined : (
              <ul class="plain" key="emails">
                {account.emailChanges.map(({ previousEmail, changedAt }) => (
                  <li key={changedAt}>{accounts.emailChanged(previousEmail, formatDateTime(changedAt))}</li>
                ))}
              </ul>
            ),
          ],
        ]}
      />
    </Section>
  );
}
