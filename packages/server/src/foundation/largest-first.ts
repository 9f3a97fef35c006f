/**
 * Members in groups, for bounds that all clients share: at the bound, a member of the largest group makes room. The largest
 * group is found without a search, because clients choose how many groups there are.
 */
export class LargestFirst<Group extends { readonly size: number }> {
  readonly #newGroup: () => Group;
  readonly #groups = new Map<string, Group>();
  /** The index is the size. */
  readonly #bySize: Set<Group>[] = [];
  #sizeMax = 0;

  constructor(newGroup: () => Group) {
    this.#newGroup = newGroup;
  }

  /** Undefined without a member. Of several largest groups, the one that has had its size longest. */
  get largest(): Group | undefined {
    const [first] = this.#bySize[this.#sizeMax] ?? [];
    return first;
  }

  /** @param change adds or removes at most one member @returns its result */
  change<T>(name: string, change: (group: Group) => T): T {
    const group = this.#groups.get(name) ?? this.#newGroup();
    const before = group.size;
    const result = change(group);
    if (group.size !== before) this.#move(name, group, before);
    return result;
  }

  #move(name: string, group: Group, before: number): void {
    this.#bySize[before]?.delete(group);
    if (group.size === 0) this.#groups.delete(name);
    else {
      this.#groups.set(name, group);
      (this.#bySize[group.size] ??= new Set()).add(group);
    }
    this.#sizeMax = Math.max(this.#sizeMax, group.size);
    while (this.#sizeMax > 0 && !this.#bySize[this.#sizeMax]?.size) this.#sizeMax--;
  }
}
