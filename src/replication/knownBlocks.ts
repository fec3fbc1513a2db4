import type { BlockRef } from '../sync/head/events.js'

/** The blocks that a replica has or received from its source. */
export interface KnownBlocks {
  /** The newest one; undefined when there are no blocks. */
  top(): BlockRef | undefined
  /** At most 32, newest first. */
  locator(): BlockRef[]
  /** Adds the blocks of a change set as received, and drops those that it removes. */
  add(unit: { readonly ancestor?: BlockRef; readonly blocks: readonly BlockRef[] }): void
}

const MAX_LOCATOR = 32
/** Max received blocks in the locator: the newest ones, before those that the replica started with. */
const MAX_GIVEN = 16

/** Starts with the blocks of a locator, none received yet. */
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
