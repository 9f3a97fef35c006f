/** The scopes of a key: checkboxes, or names that the person types if any name is allowed. */
import { useSignal } from '@preact/signals';
import type { Fields } from '../../fields.ts';
import { Choice, Choices } from '../../parts/choice.tsx';
import { Labelled } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useResource } from '../../resource.ts';
import { text } from '../../text/text.ts';
import type { DeclaredScope, LoadScopes } from './key-owner.ts';

interface ScopesFieldProps {
  readonly current: readonly string[];
  readonly load: LoadScopes;
}

/** A field that exists once the scopes are shown: without them, a form must not replace the scopes. */
const loadedName = 'scopesLoaded';

/** The problems that the field shows. */
const concerning = { codes: ['scope_invalid', 'reserved_scope', 'scope_not_entitled'], pointer: '/scopes' };

export const scopesOf = (fields: Fields): string[] | undefined =>
  fields.isChecked(loadedName)
    ? [...new Set(fields.all('scopes').flatMap((names) => names.split(/[\s,]+/).filter(Boolean)))]
    : undefined;

export function ScopesField({ current, load }: ScopesFieldProps) {
  const offer = useResource(load);
  return (
    <Loaded of={offer}>
      {({ choices, isFree }) =>
        isFree ? <FreeScopes current={current} /> : <OfferedScopes current={current} choices={choices} />
      }
    </Loaded>
  );
}

function OfferedScopes({ current, choices }: Pick<ScopeChoicesProps, 'current' | 'choices'>) {
  const others = current.filter((name) => !choices.some((scope) => scope.name === name));
  const all = [...choices, ...others.map((name) => ({ name, description: '', mayGrant: true }))];
  return <ScopeChoices choices={all} current={current} none={text.keys.noScopesDeclared} />;
}

interface ScopeChoicesProps extends Pick<ScopesFieldProps, 'current'> {
  /** One that the account cannot grant stays if it is a current one. */
  readonly choices: readonly DeclaredScope[];
  readonly hint?: string;
  /** Shown if there are no choices. */
  readonly none: string;
}

export const ScopeChoices = ({ choices, current, hint, none }: ScopeChoicesProps) => (
  <Choices legend={text.keys.scopes} hint={choices.length > 0 && hint} {...concerning}>
    <input type="hidden" name={loadedName} />
    {choices.length === 0 ? (
      <p class="hint">{none}</p>
    ) : (
      <div class="choices scroll-choices">
        {choices.map(({ name, description, mayGrant }) => (
          <Choice
            name="scopes"
            value={name}
            label={<code>{name}</code>}
            hint={description}
            defaultChecked={current.includes(name)}
            disabled={!mayGrant && !current.includes(name)}
            key={name}
          />
        ))}
      </div>
    )}
  </Choices>
);

function FreeScopes({ current }: Pick<ScopesFieldProps, 'current'>) {
  const chosen = useSignal(current);
  const add = (input: HTMLInputElement): void => {
    chosen.value = [...new Set([...chosen.value, ...input.value.split(/[\s,]+/).filter(Boolean)])];
    input.value = '';
  };
  const remove = (scope: string | undefined): void => void (chosen.value = chosen.value.filter((one) => one !== scope));
  return (
    <Labelled label={text.keys.scopes} hint={text.keys.scopesHint} {...concerning} isOptional>
      {(control) => (
        <div class="chips chip-input">
          <input type="hidden" name={loadedName} />
          {chosen.value.map((scope) => (
            <span class="chip" key={scope}>
              <input type="hidden" name="scopes" value={scope} />
              {scope}
              <button
                type="button"
                aria-label={text.keys.removeScope(scope)}
                onClick={(event) => {
                  event.currentTarget
                    .closest('.chips')
                    ?.querySelector<HTMLElement>('input:not([type=hidden])')
                    ?.focus();
                  remove(scope);
                }}
              >
                ×
              </button>
            </span>
          ))}
          <input
            {...control}
            name="scopes"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            placeholder={chosen.value.length === 0 ? 'orders:read' : ''}
            onBlur={(event) => add(event.currentTarget)}
            onKeyDown={(event) => {
              const input = event.currentTarget;
              if (event.key === 'Backspace' && input.value === '') remove(chosen.value.at(-1));
              if (!['Enter', ',', ' '].includes(event.key) || input.value === '') return;
              event.preventDefault();
              add(input);
            }}
          />
        </div>
      )}
    </Labelled>
  );
}
