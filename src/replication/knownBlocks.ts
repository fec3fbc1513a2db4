import type { BlockRef } from '../sync/head/events.js'

/** The blocks that a replica has or was given by its source. */
export interface KnownBlocks {
  /** The newest one; undefined when there is none. */
  top(): BlockRef | undefined
  /** At most 32, the newest first. */
  locator(): BlockRef[]
  /** Counts the blocks of a unit as given, and forgets those that it removes. */
  add(unit: { readonly ancestor?: BlockRef; readonly blocks: readonly BlockRef[] }): void
}

const MAX_LOCATOR = 32
/** Of the given ones the newest are in the locator, before those that the replica began with. */
const MAX_GIVEN = 16

/** The blocks of a locator, before any is given. */
export function createKnownBlocks(initial: readonly BlockRef[]): KnownBlocks {
  let [given, base]: [BlockRef[], readonly BlockRef[]] = [[], initial]
  return {
    top: () => given[0] ?? base[0],
    locator: () => [...given, ...base].slice(0, MAX_LOCATOR),
    add({ ancestor, blocks }) {
      if (ancestor !== undefined) {
        const stays = ({ number }: BlockRef) => number < ancestor.number
        given = [ancestor, ...given.filter(stays)]
        base = base.filter(stays)
      }
      for (const { number, hash } of blocks) given.unshift({ number, hash })
      given.length = Math.min(given.length, MAX_GIVEN)
    },
  }
}
