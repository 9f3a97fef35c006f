/** Email address, password, language of mail, export and deletion of the account. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../api.ts';
import { formatDate } from '../../format.ts';
import { announce } from '../../parts/announce.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Preferences } from '../../parts/preferences.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Section } from '../../parts/section.tsx';
import { Setting } from '../../parts/setting.tsx';
import { prepareProof } from '../../recent-sign-in.ts';
import { useAction, useResource } from '../../resource.ts';
import { saveFile } from '../../save-file.ts';
import { config, showsServiceAccounts } from '../../session.ts';
import { locale, text } from '../../text/text.ts';
import { DeleteAccountDialog } from './delete-account-dialog.tsx';
import { EmailDialog } from './email-dialog.tsx';
import { PasswordForm } from './password-form.tsx';

type Account = ResponseOf<'GET /auth/account'>;
type Opened = 'email' | 'password' | 'delete';

export function AccountPage() {
  const account = useResource((signal) => call('GET /auth/account', { signal }));
  return (
    <Page title={text.general.account}>
      <Loaded of={account}>
        {(value) => <Sections account={value} onLanguage={(language) => account.set({ ...value, language })} />}
      </Loaded>
    </Page>
  );
}

interface SectionsProps {
  readonly account: Account;
  readonly onLanguage: (language: Account['language']) => void;
}

function Sections({ account, onLanguage }: SectionsProps) {
  const opened = useSignal<Opened>();
  const open = async (dialog: Opened): Promise<void> => {
    if (dialog === 'password' || (await prepareProof())) opened.value = dialog;
  };
  const close = (): void => void (opened.value = undefined);
  return (
    <div class="sections">
      <Section title={text.account.signIn}>
        <dl class="settings">
          <EmailSetting account={account} onChange={() => void open('email')} />
          <Setting
            label={text.general.password}
            action={<Button onClick={() => void open('password')}>{text.account.changePassword}</Button>}
          >
            <span aria-hidden="true">••••••••••••</span>
          </Setting>
        </dl>
      </Section>
      <Section title={text.general.details}>
        <dl class="settings">
          <LanguageSetting account={account} onLanguage={onLanguage} />
          <Setting label={text.general.accountId} hint={showsServiceAccounts.value && text.account.idHint}>
            <span class="code">{account.id}</span>
            <CopyButton label={text.general.accountId} value={account.id} />
          </Setting>
          {account.role === 'admin' && <Setting label={text.account.role}>{text.account.administrator}</Setting>}
          <Setting label={text.general.created}>{formatDate(account.createdAt)}</Setting>
        </dl>
      </Section>
      <Section title={text.account.display} description={text.account.displayIntro}>
        <Preferences />
      </Section>
      <ExportSection />
      <Section
        title={text.account.deleteAccount}
        tone="danger"
        description={text.account.deleteDescription}
        actions={
          <Button kind="danger" onClick={() => void open('delete')}>
            {text.account.deleteAccount}…
          </Button>
        }
      />
      {opened.value === 'email' && <EmailDialog onClose={close} />}
      {opened.value === 'password' && (
        <Dialog title={text.account.changePassword} onClose={close}>
          <PasswordForm onClose={close} />
        </Dialog>
      )}
      {opened.value === 'delete' && <DeleteAccountDialog email={account.email} onClose={close} />}
    </div>
  );
}

function EmailSetting({ account, onChange }: { readonly account: Account; readonly onChange: () => void }) {
  const hasMail = config.value?.features.mail;
  return (
    <Setting
      label={text.general.email}
      hint={!hasMail && text.account.noMail}
      action={hasMail && <Button onClick={onChange}>{text.account.changeEmail}</Button>}
    >
      {account.email}
      <Badge tone={account.verified ? 'good' : 'warning'}>
        {account.verified ? text.account.verified : text.account.unverified}
      </Badge>
    </Setting>
  );
}

function LanguageSetting({ account, onLanguage }: SectionsProps) {
  const names = new Intl.DisplayNames(locale, { type: 'language' });
  const save = useAction(async (language: NonNullable<Account['language']>) => {
    await call('PUT /auth/account/language', { body: { language } });
    onLanguage(language);
    announce(text.general.saved);
  });
  return (
    <Setting label={text.account.language}>
      <select
        aria-label={text.account.language}
        aria-busy={save.isRunning}
        value={account.language ?? ''}
        onChange={(event) => void save.run(event.currentTarget.value as NonNullable<Account['language']>)}
      >
        {account.language === null && <option value="">{text.account.languageDefault}</option>}
        {config.value?.languages?.map((language) => (
          <option value={language} key={language}>
            {names.of(language)}
          </option>
        ))}
      </select>
      {save.problem && <ProblemNotice problem={save.problem} />}
    </Setting>
  );
}

function ExportSection() {
  const action = useAction(async () => {
    const data = await call('GET /auth/account/export');
    saveFile(text.account.exportFile, 'application/json', `${JSON.stringify(data, null, 2)}\n`);
    announce(text.account.exported);
  });
  return (
    <Section
      title={text.account.export}
      description={text.account.exportDescription}
      actions={<Button action={action}>{text.account.exportButton}</Button>}
    >
      {action.problem && <ProblemNotice problem={action.problem} />}
    </Section>
  );
}
