/** An account: for administrators a link with its name, for others its id. */
import { accountNames, nameOf } from '../account-names.ts';
import { root } from '../root.ts';
import { isAdministrator } from '../session.ts';
import { text } from '../text/text.ts';

/** The page of administrators about an account. */
export const accountPath = (id: string): string => `${root}/admin/accounts/${id}`;

/** Shows the id of an account that was deleted, or whose name is unknown. */
export function AccountName({ id }: { readonly id: string }) {
  const account = accountNames.value.get(id);
  if (account === null)
    return (
      <>
        <span class="muted">{text.general.deletedAccount}</span> <span class="code">{id}</span>
      </>
    );
  if (!isAdministrator.value) return <span class="code">{id}</span>;
  return (
    <a class={account ? 'account-name' : 'code'} href={accountPath(id)}>
      {account ? <bdi>{nameOf(account)}</bdi> : id}
    </a>
  );
}
