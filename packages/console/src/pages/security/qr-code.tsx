/** A QR code, dark on light in every theme, because some cameras do not read inverted codes. */
import { useSignal, useSignalEffect } from '@preact/signals';

export function QrCode({ content, label }: { readonly content: string; readonly label: string }) {
  const code = useSignal<{ readonly size: number; readonly path: string }>();
  useSignalEffect(() => {
    import('./qr-path.ts').then(
      ({ qrPath }) => (code.value = qrPath(content)),
      // Without it, the person types the secret, which is beside it.
      () => undefined,
    );
  });
  const { size = 1, path = '' } = code.value ?? {};
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
