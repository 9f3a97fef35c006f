/** The scopes of a key: checkboxes of the catalogue if the installation has one, otherwise names that the person types. */
import { useSignal } from '@preact/signals';
import { call } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { Choice, Choices } from '../../parts/choice.tsx';
import { Labelled } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useResource } from '../../resource.ts';
import { config } from '../../session.ts';
import { text } from '../../text/text.ts';

interface ScopesFieldProps {
  readonly current: readonly string[];
  /** Whether the account of the session owns the key: it knows which scopes it can grant. */
  readonly isOwn: boolean;
}

/** A field that exists once the scopes are shown: without them, a form must not replace the scopes. */
const loadedName = 'scopesLoaded';

/** The problems that the field shows. */
const concerning = { codes: ['scope_invalid', 'reserved_scope', 'scope_not_entitled'], pointer: '/scopes' };

export const scopesOf = (fields: Fields): string[] | undefined =>
  fields.isChecked(loadedName)
    ? [...new Set(fields.all('scopes').flatMap((names) => names.split(/[\s,]+/).filter(Boolean)))]
    : undefined;

export const ScopesField = (props: ScopesFieldProps) =>
  config.value?.features.scopesCatalogue ? <CatalogueScopes {...props} /> : <FreeScopes {...props} />;

function CatalogueScopes({ current, isOwn }: ScopesFieldProps) {
  const catalogue = useResource(async (signal) => (await call('GET /auth/scopes', { signal })).scopes);
  return (
    <Choices legend={text.keys.scopes} {...concerning}>
      <Loaded of={catalogue}>
        {(scopes) => {
          const others = current.filter((name) => !scopes.some((scope) => scope.name === name));
          const all = [...scopes, ...others.map((name) => ({ name, description: '', mayGrant: true }))];
          return (
            <div class="choices scroll-choices">
              <input type="hidden" name={loadedName} />
              {all.map(({ name, description, mayGrant }) => (
                <Choice
                  name="scopes"
                  value={name}
                  label={<code>{name}</code>}
                  hint={description}
                  defaultChecked={current.includes(name)}
                  disabled={isOwn && !mayGrant && !current.includes(name)}
                  key={name}
                />
              ))}
            </div>
          );
        }}
      </Loaded>
    </Choices>
  );
}

function FreeScopes({ current }: ScopesFieldProps) {
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
