/** A text of the server for operators, such as the reason of a failure, which can have long words. In English, if it has no translation. */
import { translationOf } from '../text/admin-text.ts';

export function ServerText({ children }: { readonly children: string | null }) {
  const translation = children === null ? undefined : translationOf(children);
  return translation === undefined ? (
    <bdi class="wrap" lang="en" translate={false}>
      {children}
    </bdi>
  ) : (
    <bdi class="wrap">{translation}</bdi>
  );
}
