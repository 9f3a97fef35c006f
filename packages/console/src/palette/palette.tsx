/**
 * The command palette: opens pages, keys and accounts by what a person types. A combobox with a list (ARIA Authoring Practices): the
 * focus stays in the field, and the arrow keys select an entry.
 */
import { useSignal, type Signal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Dialog } from '../parts/dialog.tsx';
import { ProblemNotice } from '../parts/problem-notice.tsx';
import { useResource } from '../resource.ts';
import { hasSecret } from '../secret-text.ts';
import { isAdministrator } from '../session.ts';
import { text } from '../text/text.ts';
import { findPages, search, type Entry, type Group } from './searches.ts';
import { opensBySlash } from './shortcuts.ts';

export * from '../pages/first-pages.ts';

/** The search begins when the person stops typing. */
const typingPauseMs = 200;
/** The shortest bound of the searches. */
const textCharsMax = 64;

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const typed = useSignal('');
  const found = useFound(typed);
  const groups = found.groups.filter(({ entries }) => entries.length > 0);
  const entries = groups.flatMap((group) => group.entries);
  const selected = useSignal(0);
  const place = Math.min(selected.value, entries.length - 1);
  const open = ({ href }: Entry): void => {
    onClose();
    // After the dialog has closed and returned the focus: then the new page moves it to its heading.
    setTimeout(() => route(href));
  };
  const label = isAdministrator.value ? text.palette.labelOfAdministrators : text.palette.label;
  const listId = useId();
  const optionId = (index: number): string => `${listId}-${index}`;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const entry = entries[place];
    const moves: Readonly<Record<string, number>> = { ArrowDown: place + 1, ArrowUp: place - 1 };
    const next = moves[event.key];
    if (next !== undefined && entries.length > 0) {
      event.preventDefault();
      selected.value = (next + entries.length) % entries.length;
    } else if (event.key === 'Enter' && entry) {
      event.preventDefault();
      open(entry);
    }
  };
  return (
    <Dialog title={text.general.search} size="large" onClose={onClose}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        data-first=""
        aria-label={label}
        aria-expanded={entries.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={entries.length > 0 ? optionId(place) : undefined}
        placeholder={label}
        maxLength={textCharsMax}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          selected.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <p role="status" class={found.note ? 'hint' : 'visually-hidden'}>
        {found.note ?? (found.isLoading ? '' : text.palette.count(entries.length))}
      </p>
      {found.problem && <ProblemNotice problem={found.problem} onRetry={() => void found.reload()} />}
      <Options groups={groups} listId={listId} place={place} optionId={optionId} onOpen={open} />
      <label class="filter-check">
        <input
          type="checkbox"
          checked={opensBySlash.value}
          onChange={(event) => void (opensBySlash.value = event.currentTarget.checked)}
        />
        {text.palette.slash}
      </label>
    </Dialog>
  );
}

function useFound(typed: Signal<string>) {
  const wanted = useSignal('');
  useLayoutEffect(() => {
    const timer = setTimeout(() => void (wanted.value = typed.peek().trim()), typingPauseMs);
    return () => clearTimeout(timer);
  }, [typed.value, typed, wanted]);
  const isSecret = hasSecret(typed.value);
  const resource = useResource(async (signal) => {
    const of = wanted.value;
    return { of, groups: hasSecret(of) ? [] : await search(of, signal) };
  });
  const part = typed.value.trim();
  const { value } = resource;
  // Not the results of an earlier text.
  const isCurrent = value?.of === part;
  return {
    groups: isSecret ? [] : [findPages(part), ...(isCurrent ? value.groups : [])],
    isLoading: !isCurrent,
    note: isSecret ? text.keys.searchOfSecret : undefined,
    problem: isSecret ? undefined : resource.problem,
    reload: resource.reload,
  };
}

interface OptionsProps {
  readonly groups: readonly Group[];
  readonly listId: string;
  /** Of the selected entry. */
  readonly place: number;
  readonly optionId: (index: number) => string;
  readonly onOpen: (entry: Entry) => void;
}

function Options({ groups, listId, place, optionId, onOpen }: OptionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [place]);
  let index = -1;
  return (
    <div ref={list} id={listId} class="palette-list" role="listbox" aria-label={text.palette.results}>
      {groups.map((group, groupPlace) => (
        <div role="group" aria-labelledby={`${listId}-group-${groupPlace}`} key={group.label}>
          <div role="presentation" class="palette-group" id={`${listId}-group-${groupPlace}`}>
            {group.label}
          </div>
          {group.entries.map((entry) => {
            index++;
            return (
              <Option
                entry={entry}
                id={optionId(index)}
                isSelected={index === place}
                onOpen={() => onOpen(entry)}
                key={entry.href}
              />
            );
          })}
        </div>
      ))}
    </div>
  );
}

interface OptionProps {
  readonly entry: Entry;
  readonly id: string;
  readonly isSelected: boolean;
  readonly onOpen: () => void;
}

function Option({ entry: { label, detail }, id, isSelected, onOpen }: OptionProps) {
  // As an object: the field has the focus and handles the keys.
  const pointer = {
    onPointerDown: (event: PointerEvent) => event.preventDefault(),
    onClick: onOpen,
  };
  return (
    <div id={id} role="option" aria-selected={isSelected} class="palette-option" {...pointer}>
      <bdi>{label}</bdi>
      {detail !== undefined && <bdi class="muted">{detail}</bdi>}
    </div>
  );
}
