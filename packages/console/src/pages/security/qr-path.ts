/** The modules of a QR code as the data of one SVG path. Loaded only when it is needed. */
import { correction, generate } from 'lean-qr/nano';

/** Modules of light margin that the standard requires (ISO/IEC 18004). */
const margin = 4;

/** The path, in a square of `size` modules with a margin. */
export function qrPath(content: string): { readonly size: number; readonly path: string } {
  const code = generate(content, { minCorrectionLevel: correction.M });
  let path = '';
  for (let y = 0; y < code.size; y += 1)
    for (let x = 0; x < code.size; x += 1) if (code.get(x, y)) path += `M${x + margin} ${y + margin}h1v1h-1z`;
  return { size: code.size + 2 * margin, path };
}
