/**
 * “Protect your API”: leads an administrator from a new installation to the first verification by a proxy or a program, and to the
 * next steps. Absent if the first verification was before the card, or the person has closed it.
 */
import { signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { call, type ResponseOf } from '../../api.ts';
import { useLive } from '../../live.ts';
import { announce } from '../../parts/announce.tsx';
import { Button } from '../../parts/button.tsx';
import { FirstUse } from '../../parts/first-use.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Section } from '../../parts/section.tsx';
import { useAction, useResource } from '../../resource.ts';
import { root } from '../../root.ts';
import { config } from '../../session.ts';
import { store, stored } from '../../stored.ts';
import { adminText } from '../../text/admin-text.ts';
import { text } from '../../text/text.ts';
import { isServiceKey, verifyScope } from '../keys/key-kinds.ts';
import { KeySecretDialog } from '../keys/secret-dialog.tsx';
import { addressesOf } from './addresses.ts';
import { Examples } from './examples.tsx';

export * from '../shared-parts.ts';

/** `verified`: the first verification arrived after this browser had shown the card. `absent`: without the card. */
const state = signal<'unknown' | 'waiting' | 'verified' | 'absent'>('unknown');

function close(): void {
  store('protect', undefined);
  state.value = 'absent';
  document.querySelector('h1')?.focus();
}

type KeyPage = ResponseOf<'GET /admin/api-keys'>;

/** An installation with more keys than one page is in use. */
const isVerifying = ({ apiKeys, nextCursor }: KeyPage): boolean =>
  nextCursor !== null || apiKeys.some(({ lastUsedAt, scopes }) => lastUsedAt !== null && isOfVerifications(scopes));

/** Whether the last use of a key with these scopes shows that a service verifies keys. That of a management key or of a revocation check does not. */
const isOfVerifications = (scopes: readonly string[]): boolean =>
  isServiceKey(scopes) || !scopes.some((scope) => scope.startsWith('keyreeve:'));

export const ProtectCard = () => (state.value === 'absent' ? null : <CheckedCard />);

function CheckedCard() {
  const { value, isLoading, pause } = useLive((request) =>
    call('GET /admin/api-keys', { ...request, query: { limit: '100' } }),
  );
  const isSeen = value && isVerifying(value);
  useLayoutEffect(() => {
    if (isSeen === undefined || state.peek() === 'verified') return;
    const wasWaiting = state.peek() === 'waiting';
    state.value = isSeen ? (wasWaiting || stored('protect') ? 'verified' : 'absent') : 'waiting';
    if (!isSeen) {
      // Until the person closes it.
      store('protect', 'shown');
      return;
    }
    pause(true);
    if (wasWaiting) announce(adminText.protect.verified);
    // oxlint-disable-next-line react/exhaustive-deps -- `pause` is another function in each rendering
  }, [isSeen]);
  // Nothing of the page moves if the card is not needed.
  if (state.value === 'unknown') return <div aria-busy={isLoading || value !== undefined} hidden />;
  return (
    <Card nicknames={value?.apiKeys.map(({ nickname }) => nickname) ?? []} isVerified={state.value === 'verified'} />
  );
}

interface CardProps {
  /** Of all keys of the installation. */
  readonly nicknames: readonly string[];
  readonly isVerified: boolean;
}

function Card({ nicknames, isVerified }: CardProps) {
  const texts = adminText.protect;
  /** Nicknames of new keys, until the next request of all keys. */
  const created = useRef<string[]>([]);
  const settings = useResource((abort) => call('GET /admin/settings', { signal: abort }));
  const secret = useSignal<string>();
  const create = useAction(async () => {
    const body = { nickname: freeNickname([...nicknames, ...created.current]), scopes: [verifyScope] };
    secret.value = (await call('POST /auth/api-keys', { body })).key;
    created.current.push(body.nickname);
  });
  return (
    <Section
      title={texts.title}
      description={isVerified ? undefined : texts.intro}
      actions={isVerified && <Button onClick={close}>{texts.close}</Button>}
    >
      <div aria-busy={settings.isLoading}>
        <Examples addresses={addressesOf(settings.value?.settings)}>
          <div class="stack tight">
            <div class="actions">
              <Button kind={isVerified ? 'plain' : 'primary'} icon="plus" action={create}>
                {texts.create}
              </Button>
            </div>
            <p class="muted hint">{texts.createHint}</p>
            {create.problem && <ProblemNotice problem={create.problem} />}
          </div>
        </Examples>
      </div>
      <FirstUse isDone={isVerified} waiting={texts.waiting} done={texts.verified} />
      {isVerified && <NextSteps />}
      {secret.value !== undefined && (
        <KeySecretDialog
          title={text.keys.created}
          secret={secret.value}
          scopes={[verifyScope]}
          onClose={() => void (secret.value = undefined)}
        />
      )}
    </Section>
  );
}

/** Such as `service`, or `service 2`. */
function freeNickname(taken: readonly string[]): string {
  const name = 'service';
  let free = name;
  for (let number = 2; taken.includes(free); number++) free = `${name} ${number}`;
  return free;
}

function NextSteps() {
  const texts = adminText.protect;
  return (
    <div class="stack tight">
      <h3>{texts.next}</h3>
      <ul class="next-steps">
        <li>
          <a href={`${root}/admin/accounts`}>{texts.invite}</a>
        </li>
        <li>
          <a href={`${root}/admin/mail`}>{config.value?.features.mail ? texts.testMail : texts.setUpMail}</a>
        </li>
        <li>
          {texts.backUp} <code>keyreeve backup --to &lt;{texts.file}&gt;</code>
        </li>
      </ul>
    </div>
  );
}
