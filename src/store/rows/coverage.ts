/** Blocks, both inclusive. */
export interface BlockInterval {
  readonly first: number
  readonly last: number
}

/** How many accounts, and slots of their storages, are known. */
export interface KnownState {
  readonly accounts: number
  readonly slots: number
}

/** The stored blocks: all of [first, head], both inclusive. */
export interface Coverage {
  first: number
  head: number
  /** The state of [stateFirst, head] is available; undefined where it is not, as with blocks that were imported
   *  without execution. */
  stateFirst?: number
  /** Earlier blocks with state, ascending: with sparse state, before the server was away for so long that the upstream
   *  did not have the next state any more. */
  closedStates?: readonly BlockInterval[]
  /** Blocks whose states come from their access lists (EIP-7928), ascending: with sparse state, while the server was
   *  away for too long to execute them. What they changed is known from there on, the rest as elsewhere. */
  listedStates?: readonly BlockInterval[]
  /** With sparse state: what is known of the states from `stateFirst` on. */
  known?: KnownState
  /** With sparse state: the interval whose states are known as a whole, from a state dump. */
  completeState?: { readonly first: number; readonly last?: number }
}

/** Returns the first block of the interval of states that has the state after the block; undefined if none has. */
export function firstOfState({ stateFirst, closedStates = [] }: Coverage, blockNumber: number): number | undefined {
  if (stateFirst !== undefined && blockNumber >= stateFirst) return stateFirst
  return closedStates.find(({ first, last }) => first <= blockNumber && blockNumber <= last)?.first
}

/** Returns the interval of blocks with the block whose states come from access lists; undefined if it is in none. */
export function listedAround(
  { listedStates = [] }: Pick<Coverage, 'listedStates'>,
  blockNumber: number,
): BlockInterval | undefined {
  return listedStates.find(({ first, last }) => first <= blockNumber && blockNumber <= last)
}

/** True if the state after the block is available. */
export function hasStateAfter(coverage: Coverage | undefined, blockNumber: number): boolean {
  return coverage !== undefined && firstOfState(coverage, blockNumber) !== undefined
}

/** True if the state before the block is available, on which its transactions are executed. */
export function hasStateBefore(coverage: Coverage | undefined, blockNumber: number): boolean {
  if (coverage === undefined) return false
  const first = firstOfState(coverage, blockNumber)
  return first !== undefined && first < blockNumber
}
