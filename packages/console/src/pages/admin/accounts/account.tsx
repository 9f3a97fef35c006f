/** What the pages about accounts share: the name, the state and the path of an account, and fields for its values. */
import type { ResponseOf } from '../../../api.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';

export { nameOf } from '../../../account-names.ts';
export { accountPath } from '../../../parts/account-name.tsx';

export type ListedAccount = ResponseOf<'GET /admin/accounts'>['accounts'][number];
export type AccountDetail = ResponseOf<'GET /admin/accounts/:id'>;

export function AccountState({ of }: { readonly of: Omit<ListedAccount, 'id'> }) {
  const { states } = adminText.accounts;
  const isPerson = of.kind === 'person';
  if (of.disabledAt !== null) return <Badge tone="bad">{states.disabled}</Badge>;
  if (isPerson && !of.hasPassword) return <Badge tone="warning">{states.invited}</Badge>;
  if (isPerson && !of.verified) return <Badge tone="warning">{states.unverified}</Badge>;
  return <Badge tone="good">{states.enabled}</Badge>;
}

export const EmailField = ({ label }: { readonly label: string }) => (
  <Field
    label={label}
    name="email"
    type="email"
    autocomplete="off"
    autofocus
    codes={['email_invalid', 'account_exists']}
  />
);

export const RoleSelect = ({ current }: { readonly current: AccountDetail['role'] }) => (
  <Select
    label={text.account.role}
    name="role"
    defaultValue={current}
    options={Object.entries(adminText.accounts.roles)}
  />
);
