/** An input for a password, with a button that shows it, and a hint while Caps Lock is on. */
import { useSignal } from '@preact/signals';
import type { InputHTMLAttributes } from 'preact';
import { text } from '../text/text.ts';
import { Icon } from './icon.tsx';

type PasswordInputProps = Omit<InputHTMLAttributes, 'type' | 'role' | 'label' | 'class'> & { readonly label: string };

export function PasswordInput({ label, ...rest }: PasswordInputProps) {
  const isShown = useSignal(false);
  const isCapsLock = useSignal(false);
  const onKey = (event: KeyboardEvent): void => {
    // Password managers send key events without this function.
    isCapsLock.value = event.getModifierState?.('CapsLock') ?? false;
  };
  const shownType = { type: isShown.value ? 'text' : 'password' };
  return (
    <>
      <div class="password-input">
        <input
          {...rest}
          {...(shownType as object)}
          autocapitalize="none"
          spellcheck={false}
          onKeyDown={onKey}
          onKeyUp={onKey}
          onBlur={() => void (isCapsLock.value = false)}
        />
        <button type="button" class="button quiet small" onClick={() => void (isShown.value = !isShown.value)}>
          {isShown.value ? text.general.hide : text.general.show}
          <span class="visually-hidden"> {label}</span>
        </button>
      </div>
      <div role="status" class="hint">
        {isCapsLock.value && (
          <span class="field-warning">
            <Icon name="warning" /> {text.general.capsLock}
          </span>
        )}
      </div>
    </>
  );
}
