/** The values of a submitted form. */
export class Fields {
  readonly #data: FormData;

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form);
  }

  /** @returns the text of a field; empty if the form has no such field */
  text(name: string): string {
    const value = this.#data.get(name);
    return typeof value === 'string' ? value : '';
  }

  /** @returns undefined for an empty field */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** The checked boxes and selected options of a name. */
  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === 'string');
  }

  /** Also whether the form has a text field of the name. */
  isChecked(name: string): boolean {
    return this.#data.has(name);
  }
}
