/** A text of the server for operators, such as the reason of a failure. It is in English and can have long words. */

export const ServerText = ({ children }: { readonly children: string | null }) => (
  <bdi class="wrap" lang="en" translate={false}>
    {children}
  </bdi>
);
