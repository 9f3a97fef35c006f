/** An input above a list that selects entries. It applies when the person leaves the field or presses Enter. */
import { useSignal } from '@preact/signals';
import type { List } from '../list.ts';

export interface FilterFieldProps<T> {
  readonly list: List<T>;
  /** Of the query parameter. */
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'date' | 'datetime-local';
  /** A regular expression that a text matches. */
  readonly pattern?: string;
  readonly placeholder?: string;
  /** From the value in the URL to that of the input, and back. Default: they are equal. */
  readonly shown?: (value: string) => string;
  readonly given?: (input: string) => string;
}

/** While a person types a year, its first digits are years of the first centuries. */
const earliest = { date: '2000-01-01', 'datetime-local': '2000-01-01T00:00' } as const;
const same = (value: string): string => value;

export function FilterField<T>({
  list,
  name,
  label,
  type = 'text',
  shown = same,
  given = same,
  ...rest
}: FilterFieldProps<T>) {
  /** What the person has typed since the filter was applied. */
  const draft = useSignal<string>();
  const apply = (input: HTMLInputElement): void => {
    input.value = input.value.trim();
    if (!input.validity.valid) {
      if (type === 'text') input.reportValidity();
      return;
    }
    draft.value = undefined;
    list.change(name, input.value && given(input.value));
  };
  return (
    <label class="filter">
      <span>{label}</span>
      <input
        {...rest}
        // As an object: Preact's types allow only some roles for each type of input.
        {...({ type } as object)}
        spellcheck={false}
        autocomplete="off"
        {...(type !== 'text' && { min: earliest[type] })}
        value={draft.value ?? shown(list.query[name] ?? '')}
        onInput={(event) => void (draft.value = event.currentTarget.value)}
        onChange={(event) => apply(event.currentTarget)}
      />
    </label>
  );
}
