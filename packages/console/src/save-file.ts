/** Saves data that the page already has as a file. */
export function saveFile(name: string, type: string, content: string | Blob): void {
  const link = document.createElement('a');
  // The policy has no rule for downloads, and the blob never leaves the browser.
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  // After the browser has started to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
